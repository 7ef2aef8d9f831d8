/* Reports of a pair that has a problem of its own. The form carries their fields too, for pages without this script. */

import { onKeysIn } from "../keyboard.js";
import { fill, gettext } from "./words.js";

/**
 * Bring the report of each pair to life; `send(place, report)` saves it, `missing(text)` says what is missing. Return
 * { open(pair), restore(pair, report) }.
 */
export function layReports(pairs, { send, missing }) {
  for (const pair of pairs) {
    const report = fieldsOf(pair);
    if (!report) continue;
    report.button.hidden = false;
    report.button.addEventListener("click", () => sendOf(pair));
    onKeysIn(report.box, "input", { Enter: () => sendOf(pair) }); // it would submit the whole form
    onKeysIn(report.box, "*", { Escape: () => close(report) });
  }

  function sendOf(pair) {
    const { problem, note } = fieldsOf(pair);
    if (!problem.value) {
      missing(gettext("Choose what is wrong with the pair"));
      return problem.focus();
    }
    send(pair.dataset.place, { [problem.name]: problem.value, [note.name]: note.value });
    thank(pair).focus();
  }

  return {
    open(pair) {
      const report = fieldsOf(pair);
      if (!report || report.box.hidden) return missing(gettext("You have reported this pair"));
      report.box.open = true;
      report.problem.focus();
    },
    restore(pair, kept) {
      const report = fieldsOf(pair);
      if (!report) return;
      report.problem.value = kept[report.problem.name];
      report.note.value = kept[report.note.name];
      send(pair.dataset.place, kept);
      thank(pair);
    },
  };
}

/** The parts of a pair's report; null where it was reported before. */
function fieldsOf(pair) {
  const box = pair.querySelector(".report");
  if (!box) return null;
  const part = (selector) => box.querySelector(selector);
  return { box, problem: part("select"), note: part("input"), button: part("button"), summary: part("summary") };
}

function close(report) {
  report.box.open = false;
  report.summary.focus();
}

/** Show what was reported in place of its fields, which stay in the form: it may be submitted before they are sent. */
function thank(pair) {
  const { box, problem } = fieldsOf(pair);
  const words = problem.selectedOptions[0].textContent;
  const thanks = pair.querySelector(".reported");
  box.hidden = true;
  thanks.hidden = false;
  thanks.textContent = fill(gettext("You reported this: %(problem)s. Thank you. Please answer it as well as you can."), {
    problem: words,
  });
  return thanks;
}

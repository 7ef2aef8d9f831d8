/* Turns the long form into one pair (or what its type of task asks at once) per screen. The form also works without this script. */

import { onKeysIn } from "../keyboard.js";
import { countActiveSeconds, secondsOn, showTimeLeft } from "./clock.js";
import { asksReasons, choices, isFinished, keepAlone, layDeck, letWrite, readAnswer, writeAnswer } from "./deck.js";
import { deviceCopy, draftSaver, forgetOld, reportName, submitAgain } from "./drafts.js";
import { labelReasons, listen, listenToSwipes, switchKeys } from "./keys.js";
import { enlarger, isPictureMissing, letEnlarge, loadInTurn, pictureAt, refuses, watchPictures } from "./pictures.js";
import { layReports } from "./report.js";
import { fill, gettext } from "./words.js";

const LOOK = 220; // milliseconds in which a click's mark is seen before the next pair comes

const byId = (id) => document.getElementById(id);
const form = byId("judging");
const pairs = [...form.querySelectorAll(".pair")];
const answers = new Map(pairs.map((pair) => [pair, readAnswer(pair)]));
let pointer = false;
let submitting = false;

document.documentElement.classList.add("deck");
// The answer to "Take a HIT" is its page: a reload and the history then lead to this HIT, and take no other.
if (new URL(form.action).pathname !== location.pathname) history.replaceState(null, "", form.action);
byId("help-button").hidden = false;

const announce = (text) => (byId("announce").textContent = text);
const { draftUrl, copy: copyKey, now, whyUrl } = form.dataset;
const copy = draftUrl ? deviceCopy(copyKey, Number(now)) : null;
const done = copy?.remembered("done") ?? []; // what can be undone: the place of a pair and its answer before
const saver = draftUrl && draftSaver(draftUrl, copy, { show: showSaved, gone: showGone }); // a test saves nothing
const save = (pair, answer) => saver?.save(pair.dataset.place, { ...answer, ...secondsOn(form, pair) });
const deck = layDeck(
  pairs,
  {
    place: byId("place"),
    dots: byId("dots"),
    turn: byId("turn"),
    previous: byId("previous"),
    nextWord: byId("next-word"),
    finish: byId("finish"),
    strip: byId("strip"),
    finishHeading: byId("finish-heading"),
    finishText: byId("finish-text"),
    submit: byId("submit-all"),
  },
  changeTo,
);
const enlarge = enlarger(byId("zoom"), (pair) => choices(pair, (_, input) => choose(input)));
const reports = layReports(pairs, { send: (place, report) => saver?.save(reportName(place), report), missing: announce });

function showSaved(text, isTrouble) {
  const state = byId("saved");
  if (isTrouble !== state.classList.contains("trouble")) announce(text);
  state.textContent = text;
  state.classList.toggle("trouble", isTrouble);
}

/** Say that the server takes no more answers of this HIT. */
function showGone(why) {
  showSaved(gettext("not saved"), true);
  byId("gone-text").textContent = why;
  byId("gone").hidden = false;
  scrollTo(0, 0);
}

/** Choose the answers that this device kept because the server had not confirmed them, and save them again. */
function restore() {
  forgetOld();
  for (const pair of pairs) {
    const report = copy.newest(reportName(pair.dataset.place), 0);
    if (report) reports.restore(pair, report);
    const kept = copy.newest(pair.dataset.place, Number(pair.dataset.saved ?? 0));
    if (!kept) continue;
    writeAnswer(pair, kept);
    answers.set(pair, readAnswer(pair));
    save(pair, kept);
  }
  saver.saveNow();
}

/** Show what was answered in another tab of this browser, which saves it. */
function follow(place, answer) {
  saver.forget(place);
  const pair = byId(`pair-${place}`);
  if (!pair) return; // it is a report
  writeAnswer(pair, answer);
  answers.set(pair, readAnswer(pair));
  deck.refresh();
}

/** Take notice of what is chosen now in `pair`. */
function changed(pair) {
  const now = readAnswer(pair);
  done.push({ place: pair.dataset.place, before: answers.get(pair) });
  keepDone();
  answers.set(pair, now);
  save(pair, now);
  deck.refresh();
}

/** Change an answer in the overview; a level that asks for a reason leads to its pair. */
function changeTo(pair, input) {
  if (input.checked || refuses(pair, input, announce)) return;
  input.checked = true;
  changed(pair);
  if (!isFinished(pair)) deck.show(pairs.indexOf(pair));
}

/** Practice: say whether the answer to a pair is right, and why. The way on is the button, Enter or an arrow. */
async function explain(pair) {
  const place = pair.dataset.place;
  const reasons = pair.querySelector(".why") ?? pair.querySelector(".question").appendChild(document.createElement("div"));
  reasons.className = "why";
  byId("next").focus({ preventScroll: true });
  try {
    const response = await fetch(`${whyUrl}${place}/?level=${answers.get(pair)[`level-${place}`]}`);
    reasons.innerHTML = await response.text();
  } catch {
    reasons.textContent = gettext("The server cannot be reached. You see which answers are right at the end of the practice.");
  }
  announce(reasons.textContent);
}

/** Go on after an answer. */
const goOn = (pair) => (whyUrl ? explain(pair) : advance());

/** Go to the next pair without an answer, or to the overview. */
function advance() {
  const from = deck.at() + 1;
  const ahead = pairs.findIndex((pair, i) => i >= from && !isFinished(pair));
  deck.show(ahead < 0 ? pairs.length : ahead);
}

/** Choose an input by key. A tick is set or taken away; a radio leads on if the pair is finished, else to its reasons. */
function choose(input) {
  const pair = deck.pair();
  if (refuses(pair, input, announce)) return;
  const isTick = input.type === "checkbox";
  const isNew = isTick || !input.checked;
  input.checked = !(isTick && input.checked);
  keepAlone(pair, input);
  if (isNew) changed(pair);
  if (isTick) return;
  byId("zoom").close();
  if (isFinished(pair)) return goOn(pair);
  const group = input.value === "wrong_way" ? ".wrong-ways" : ".reasons";
  const first = pair.querySelector(`${group} input:checked`) ?? pair.querySelector(`${group} input`);
  first.focus();
}

/** What chooses the answer that has this key; null if the screen has none. */
function answerOf(key) {
  const input = deck.pair()?.querySelector(`.level input[data-key="${CSS.escape(key)}"]`);
  return input ? () => choose(input) : null;
}

function chooseReason(number) {
  const pair = deck.pair();
  const input = pair && asksReasons(pair) ? pair.querySelectorAll(".reasons input")[number] : null;
  if (input && input.offsetParent) choose(input);
}

function undo() {
  const last = done.pop();
  if (!last) return announce(gettext("Nothing to undo"));
  const pair = byId(`pair-${last.place}`);
  byId("zoom").close();
  keepDone();
  writeAnswer(pair, last.before);
  answers.set(pair, last.before);
  save(pair, last.before);
  deck.show(pairs.indexOf(pair));
  announce(fill(gettext("Undone: %(name)s"), { name: pair.dataset.name }));
}

/** Keep what can be undone over a reload, and offer to undo it. */
function keepDone() {
  copy?.remember("done", done);
  byId("undo").hidden = done.length === 0;
}

function toggleHelp() {
  const help = byId("help");
  if (help.open) help.close();
  else help.showModal();
}

function showNotSubmitted(cause) {
  for (const text of byId("not-submitted").querySelectorAll("[data-cause]")) text.hidden = text.dataset.cause !== cause;
  byId("not-submitted").hidden = false;
}

/**
 * Lead to what is missing, or store the whole form and then let the browser send it, for the page that follows. While
 * the server cannot be reached or fails it is tried again, until the worker takes an answer back: also after a reload.
 */
async function submit(event) {
  const missing = pairs.findIndex((pair) => !isFinished(pair));
  if (missing >= 0 || saver || submitting) event.preventDefault();
  if (missing >= 0) return deck.show(missing);
  if (submitting) return;
  submitting = true;
  const words = byId("submit-all").textContent;
  byId("submit-all").textContent = gettext("Submitting …");
  if (!saver || (await submitAgain(form, saver, copy, { isWanted: () => pairs.every(isFinished), failed: showNotSubmitted }))) return;
  submitting = false;
  byId("submit-all").textContent = words;
  byId("not-submitted").hidden = true;
}

letWrite(form, {
  written: (pair) => {
    save(pair, readAnswer(pair));
    deck.refresh();
  },
  next: advance,
});
onKeysIn(form, "input", { Enter: () => deck.show(deck.at() + 1) });
form.addEventListener("pointerdown", () => (pointer = true));
form.addEventListener("keydown", (event) => {
  pointer = false;
  // A key held down must not submit, and Enter in a radio would do so long before the end.
  if (event.key === "Enter" && (event.repeat || event.target.matches("input"))) event.preventDefault();
});
form.addEventListener("click", (event) => {
  // Arrow keys between radio buttons arrive here too.
  if (event.target.matches(".levels input") && refuses(event.target.closest(".pair"), event.target, announce)) event.preventDefault();
});
form.addEventListener("change", (event) => {
  if (event.target.closest(".report")) return;
  const pair = event.target.closest(".pair");
  keepAlone(pair, event.target);
  changed(pair);
  if (pointer && event.target.type === "radio" && isFinished(pair)) setTimeout(() => deck.pair() === pair && goOn(pair), LOOK);
});
form.addEventListener("submit", submit);
addEventListener("submit", (event) => event.target.closest(".give-back") && saver?.close());
addEventListener("pageshow", (event) => event.persisted && location.reload());

byId("previous").addEventListener("click", () => deck.show(deck.at() - 1));
byId("next").addEventListener("click", () => deck.show(deck.at() + 1));
byId("overview").addEventListener("click", () => deck.show(pairs.length));
byId("help-button").addEventListener("click", toggleHelp);
byId("undo").addEventListener("click", undo);
byId("undo").hidden = done.length === 0;
switchKeys(byId("single-keys"));
for (const link of document.querySelectorAll('a[href^="#pair-"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    deck.show(pairs.findIndex((pair) => `#${pair.id}` === link.hash));
  });
}
countActiveSeconds(form, pairs, copy, deck.pair);
if (saver) restore();
copy?.follow(follow);
for (const pair of pairs) {
  labelReasons(pair);
  for (const link of pair.querySelectorAll(".picture-link")) letEnlarge(link, enlarge);
}

listen(
  {
    answer: answerOf,
    reason: chooseReason,
    previous: () => deck.show(deck.at() - 1),
    next: () => deck.show(deck.at() + 1),
    undo,
    zoom: () => pictureAt(deck.pair()) && enlarge(pictureAt(deck.pair())),
    report: () => deck.pair() && reports.open(deck.pair()),
    help: toggleHelp,
  },
  () => document.querySelector("dialog[open]"),
);
listenToSwipes(form, deck.pair, (by) => deck.show(deck.at() + by));
watchPictures(pairs, (pair) => {
  for (const field of pair.querySelectorAll("textarea.written")) field.readOnly = isPictureMissing(pair);
});
if (byId("time")) showTimeLeft(byId("time"), byId("time-short"), announce, () => saver?.hurry());

const unanswered = pairs.findIndex((pair) => !isFinished(pair));
const writes = form.querySelector("textarea.written") !== null; // who writes can begin at once
deck.show(unanswered < 0 ? pairs.length : unanswered, { focus: writes });
loadInTurn([...pairs.slice(deck.at()), ...pairs.slice(0, deck.at())]);
if (saver && copy.remembered("submitted")) {
  copy.remember("submitted", false);
  form.requestSubmit();
}

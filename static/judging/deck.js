/* One pair on the screen at a time, the dots above it, the strip of all answers at the end; and one pair's answer. */

import { loadAhead } from "./pictures.js";

const PARTS = ["level", "shortcoming", "wrong_way"];

/**
 * Lay `pairs` out as a deck. Return { at(), show(index), pair(), refresh() }; index pairs.length is the strip.
 */
export function layDeck(pairs, elements) {
  const { place, dots, turn, previous, nextWord, finish, strip, finishHeading, finishText, submit } = elements;
  let current = 0;

  for (const pair of pairs) {
    dots.append(dot(pair));
    strip.append(thumbnail(pair));
  }
  strip.hidden = false;

  function show(index, { focus = true } = {}) {
    current = Math.max(0, Math.min(pairs.length, index));
    const atEnd = current === pairs.length;
    pairs.forEach((pair, i) => (pair.hidden = i !== current));
    finish.hidden = !atEnd;
    loadAhead(pairs, current);
    if (atEnd) for (const image of strip.querySelectorAll("img")) image.loading = "eager";
    refresh();
    scrollTo(0, 0);
    if (focus) goal(atEnd).focus({ preventScroll: true });
  }

  /** What gets the focus: Enter submits once all are answered. */
  function goal(atEnd) {
    if (!atEnd) return pairs[current].querySelector("legend");
    return pairs.every(isFinished) ? submit : finishHeading;
  }

  function refresh() {
    const atEnd = current === pairs.length;
    place.textContent = atEnd ? "All answers" : `${current + 1} of ${pairs.length}`;
    turn.hidden = atEnd;
    previous.disabled = current === 0;
    nextWord.textContent = !atEnd && isFinished(pairs[current]) ? "Next" : "Skip";
    pairs.forEach((pair, i) => mark(pair, dots.children[i], strip.children[i], i === current));
    const missing = pairs.filter((pair) => !isFinished(pair)).length;
    finishText.textContent = missing
      ? `${missing} of ${pairs.length} still ${missing === 1 ? "needs" : "need"} an answer. Choose one to go there.`
      : "All are answered. Choose one to change it, or submit them all with the button or Enter. You can submit once.";
  }

  dots.addEventListener("click", (event) => go(event, dots));
  strip.addEventListener("click", (event) => go(event, strip));
  function go(event, list) {
    const index = [...list.children].indexOf(event.target.closest("li"));
    if (index >= 0) show(index);
  }

  return { at: () => current, pair: () => pairs[current], show, refresh };
}

function dot(pair) {
  const item = document.createElement("li");
  item.title = `Pair ${pair.dataset.place}`;
  return item;
}

function thumbnail(pair) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const image = document.createElement("img");
  const words = document.createElement("span");
  const number = document.createElement("b");
  button.type = "button";
  image.loading = "lazy";
  image.src = pair.dataset.thumbnail;
  image.alt = pair.querySelector("img").alt;
  number.textContent = `${pair.dataset.place} `;
  words.append(number, "");
  button.append(image, words);
  item.append(button);
  return item;
}

/** Bring one pair's dot and thumbnail up to date. */
function mark(pair, dot, item, isCurrent) {
  const { level } = readAnswer(pair);
  const finished = isFinished(pair);
  dot.className = `${finished ? "answered" : ""} ${isCurrent ? "current" : ""}`;
  item.dataset.level = level;
  item.classList.toggle("missing", !finished);
  item.querySelector("span").lastChild.data = finished ? levelWords(pair) : level ? "Reason missing" : "Answer missing";
}

/* One pair's answer: read from and written to its native radio groups. */

function chosen(pair, part) {
  return pair.querySelector(`input[name="${part}-${pair.dataset.place}"]:checked`)?.value ?? "";
}

function choose(pair, part, value) {
  for (const input of pair.querySelectorAll(`input[name="${part}-${pair.dataset.place}"]`)) {
    input.checked = input.value === value;
  }
}

/** Whether the chosen level asks for reasons in this round. */
export function asksReasons(pair) {
  return pair.querySelector(".reasons") !== null && pair.querySelector("input[data-asks]:checked") !== null;
}

/** What is chosen now; reasons left over from another level count as unchosen. */
export function readAnswer(pair) {
  const shortcoming = asksReasons(pair) ? chosen(pair, "shortcoming") : "";
  const wrongWay = shortcoming === "wrong_way" ? chosen(pair, "wrong_way") : "";
  return { level: chosen(pair, "level"), shortcoming, wrong_way: wrongWay };
}

export function writeAnswer(pair, answer) {
  for (const part of PARTS) choose(pair, part, answer[part]);
}

export function isFinished(pair) {
  const { level, shortcoming, wrong_way: wrongWay } = readAnswer(pair);
  if (!asksReasons(pair)) return level !== "";
  return shortcoming === "wrong_way" ? wrongWay !== "" : shortcoming !== "";
}

/** The chosen level in words, or "" while there is none. */
export function levelWords(pair) {
  const input = pair.querySelector(`input[name="level-${pair.dataset.place}"]:checked`);
  return input ? input.closest("label").querySelector("span").textContent : "";
}

/** Bring the reasons right under the level that asks for them. */
export function unfoldReasons(pair) {
  const reasons = pair.querySelector(".reasons");
  const asking = pair.querySelector("input[data-asks]:checked")?.closest("label");
  if (reasons && asking && asking.nextElementSibling !== reasons) asking.after(reasons);
}

/* One pair on the screen at a time, the dots above it, and the strip of all answers at the end. */

import { isFinished, levelWords, readAnswer } from "./answers.js";
import { loadAhead } from "./pictures.js";

/**
 * Lay `pairs` out as a deck. Return { at(), show(index), pair(), refresh() }; index pairs.length is the strip.
 */
export function layDeck(pairs, elements) {
  const { place, dots, turn, previous, nextWord, finish, strip, finishHeading, finishText } = elements;
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
    if (focus) (atEnd ? finishHeading : pairs[current].querySelector("legend")).focus({ preventScroll: true });
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
      : "All are answered. Change any of them by choosing it; then submit, once.";
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
  image.src = pair.querySelector("img").src;
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

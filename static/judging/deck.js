/* One screen of the form at a time (a pair, or what the type of task asks at once), the dots above it, the overview of
   all answers at the end; and the answer of one screen. */

import { onKeysIn } from "../keyboard.js";
import { loadNow } from "./pictures.js";
import { fill, gettext, ngettext } from "./words.js";

/**
 * Lay `pairs` out as a deck. In the overview, `choose(pair, input)` is called for another answer. Return
 * { at(), show(index), pair(), refresh() }; index pairs.length is the overview.
 */
export function layDeck(pairs, elements, choose) {
  const { place, dots, turn, previous, nextWord, finish, strip, finishHeading, finishText, submit } = elements;
  let current = 0;

  for (const pair of pairs) {
    dots.append(dot(pair));
    strip.append(card(pair, choose));
  }
  strip.hidden = false;

  function show(index, { focus = true } = {}) {
    current = Math.max(0, Math.min(pairs.length, index));
    const atEnd = current === pairs.length;
    pairs.forEach((pair, i) => (pair.hidden = i !== current));
    finish.hidden = !atEnd;
    if (!atEnd) loadNow(pairs[current]);
    refresh();
    scrollTo(0, 0);
    if (focus) goal(atEnd).focus({ preventScroll: true });
  }

  /** What gets the focus: Enter submits once all are answered. On a touch screen, a field's keyboard would cover the
   * picture before it was seen. */
  function goal(atEnd) {
    const pair = pairs[current];
    if (!atEnd) return (!matchMedia("(pointer: coarse)").matches && fieldOf(pair)) || pair.querySelector("legend");
    return pairs.every(isFinished) ? submit : finishHeading;
  }

  function refresh() {
    const atEnd = current === pairs.length;
    place.textContent = atEnd ? gettext("All answers") : fill(gettext("%(n)s of %(all)s"), { n: current + 1, all: pairs.length });
    turn.hidden = atEnd;
    previous.disabled = current === 0;
    nextWord.textContent = !atEnd && isFinished(pairs[current]) ? gettext("Next") : gettext("Skip");
    pairs.forEach((pair, i) => mark(pair, dots.children[i], strip.children[i], i === current));
    const missing = pairs.filter((pair) => !isFinished(pair)).length;
    finishText.textContent = missing
      ? fill(ngettext("%(n)s still needs an answer. Choose it to go there.", "%(n)s still need an answer. Choose one to go there.", missing), { n: missing })
      : gettext("All are answered. Change any of them here, or submit them all with the button or Enter.");
  }

  dots.addEventListener("click", (event) => go(event.target, dots));
  strip.addEventListener("click", (event) => go(event.target.closest(".card-pair"), strip));
  function go(target, list) {
    const index = [...list.children].indexOf(target?.closest("li"));
    if (index >= 0) show(index);
  }

  return { at: () => current, pair: () => pairs[current], show, refresh };
}

function dot(pair) {
  const item = document.createElement("li");
  item.title = pair.dataset.name;
  return item;
}

/** A pair in the overview: a button with its picture and sentence that leads there, its answer in words, and the other
 * answers where one click gives them. */
function card(pair, choose) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const number = document.createElement("b");
  const sentence = document.createElement("q");
  const said = document.createElement("span");
  const picture = pair.querySelector("figure.picture img");
  button.type = "button";
  button.className = "card-pair";
  number.textContent = pair.dataset.name.match(/\d+/);
  sentence.className = "notranslate";
  sentence.translate = false;
  sentence.dir = "auto";
  sentence.lang = pair.querySelector(".notranslate").lang;
  said.className = "card-said";
  button.append(number, ...(picture ? [thumbnail(picture)] : []), sentence);
  item.append(button, said, choices(pair, choose));
  return item;
}

/** The picture of a pair once more, as soon as it is there: the browser has it then, also without a network. */
function thumbnail(picture) {
  const image = document.createElement("img");
  const show = () => picture.naturalWidth && (image.src = picture.currentSrc);
  image.alt = picture.alt;
  picture.addEventListener("load", show);
  show();
  return image;
}

/** A button for each answer of a pair, by its key; none where several are ticked or words are written. */
export function choices(pair, choose) {
  const group = document.createElement("span");
  group.className = "card-choices";
  group.role = "group";
  group.ariaLabel = fill(gettext("%(name)s: change the answer"), { name: pair.dataset.name });
  if (pair.querySelector("input[type=checkbox], textarea")) return group;
  for (const input of pair.querySelectorAll(".level input")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = input.dataset.key;
    button.title = button.ariaLabel = wordsOf(input);
    button.dataset.level = input.value;
    button.addEventListener("click", () => choose(pair, input));
    group.append(button);
  }
  return group;
}

/** Bring one pair's dot and card up to date. */
function mark(pair, dot, item, isCurrent) {
  const finished = isFinished(pair);
  const level = chosenLevels(pair)[0]?.value ?? "";
  dot.className = `${finished ? "answered" : ""} ${isCurrent ? "current" : ""}`;
  item.dataset.level = level;
  item.classList.toggle("missing", !finished);
  const missing = troubleOf(pair) ? gettext("Sentence to complete") : level ? gettext("Reason missing") : gettext("Answer missing");
  item.querySelector(".card-said").textContent = finished ? answerWords(pair) : missing;
  item.querySelector("q").textContent = sentenceOf(pair);
  for (const button of item.querySelectorAll(".card-choices button")) button.ariaPressed = String(button.dataset.level === level);
}

/* The answer of one screen: its form fields by name, read from and written to its native inputs. */

const inputsOf = (pair) => [...pair.querySelectorAll("input, textarea")].filter((input) => !input.closest(".report"));

const chosenLevels = (pair) => [...pair.querySelectorAll(".level input:checked")];

/** Whether the chosen level asks for reasons in this round. */
export function asksReasons(pair) {
  return pair.querySelector(".reasons") !== null && pair.querySelector("input[data-asks]:checked") !== null;
}

/** Whether an input is asked for now: reasons left over from another level count as unchosen. */
function isAsked(pair, input) {
  if (input.closest(".reasons") && !asksReasons(pair)) return false;
  return !input.closest(".wrong-ways") || pair.querySelector('.reasons input[value="wrong_way"]:checked') !== null;
}

/** What is chosen or written now. */
export function readAnswer(pair) {
  const said = inputsOf(pair).filter((input) => (input.matches("textarea") ? input.value.trim() : input.checked));
  return Object.fromEntries(said.filter((input) => isAsked(pair, input)).map((input) => [input.name, input.value]));
}

export function writeAnswer(pair, answer) {
  for (const input of inputsOf(pair)) {
    if (input.matches("textarea")) input.value = answer[input.name] ?? "";
    else input.checked = answer[input.name] === input.value;
  }
}

export function isFinished(pair) {
  const answer = readAnswer(pair);
  const place = pair.dataset.place;
  if (!asksReasons(pair)) return Object.keys(answer).length > 0 && !troubleOf(pair);
  return answer[`shortcoming-${place}`] === "wrong_way" ? `wrong_way-${place}` in answer : `shortcoming-${place}` in answer;
}

/** The answer in words, or the number of ticks. */
function answerWords(pair) {
  const chosen = chosenLevels(pair);
  if (chosen[0]?.type === "checkbox") return fill(gettext("%(n)s ticked"), { n: chosen.length });
  return chosen[0] ? wordsOf(chosen[0]) : pair.querySelector("textarea").value;
}

const wordsOf = (input) => input.closest("label").querySelector("span").textContent;

/** The sentence of a pair, or those that are ticked. */
function sentenceOf(pair) {
  const ticked = chosenLevels(pair).filter((input) => input.type === "checkbox");
  return pair.querySelector(".sentence")?.textContent ?? ticked.map(wordsOf).join(" ");
}

/** Let an answer that excludes all others of its screen take away their ticks and what was written, and ticks its own. */
export function keepAlone(pair, input) {
  if (!input.checked) return;
  const others = "alone" in input.dataset ? "input[type=checkbox]" : "input[data-alone]";
  if (input.matches("input[type=checkbox], [data-alone]")) {
    for (const other of pair.querySelectorAll(`.level ${others}`)) other.checked = false;
    if ("alone" in input.dataset) for (const written of pair.querySelectorAll("textarea.written")) written.value = "";
  }
}

/* Answers that are written: one sentence for a picture. The server checks the same. */

const fieldOf = (screen) => screen.querySelector("textarea.written");

/** What is wrong with the sentence of a screen, in words; "" for a good one, for none, and where none is asked for. */
export function troubleOf(screen) {
  const field = fieldOf(screen);
  const text = field?.value.trim();
  if (!text) return "";
  if (wordsIn(text) < field.dataset.words) return gettext("Write a whole sentence.");
  const same = [...field.form.querySelectorAll("textarea.written")].find((other) => isSame(other, field));
  return same ? fill(gettext("You wrote this for %(name)s too. Write another sentence."), { name: same.closest(".pair").dataset.name }) : "";
}

// As words_of of counterpart_annotators: of a script without spaces, the pairs of neighbours in a run of letters.
const UNSPACED = /(?=\p{L})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*/gu;
const WORDS = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[\\p{L}\\p{M}\\p{N}_])+`, "gu");

const wordsIn = (text) =>
  (text.match(WORDS) ?? [])
    .filter((word) => /(?!\p{DI})\p{L}/u.test(word))
    .reduce((sum, word) => sum + Math.max(1, (word.match(UNSPACED)?.length ?? 0) - 1), 0);

const isSame = (other, field) => other !== field && coreOf(other.value) === coreOf(field.value);

const coreOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();

/**
 * Let the sentences of a form be written: `written(screen)` at each key, `next()` at Enter.
 * Escape leaves the field, for the single keys.
 */
export function letWrite(form, { written, next }) {
  const isOurs = (event) => event.target.matches("textarea.written");
  const screenOf = (event) => event.target.closest(".pair");

  form.addEventListener("input", (event) => {
    if (!isOurs(event)) return;
    const screen = screenOf(event);
    for (const radio of screen.querySelectorAll(".no-picture input")) radio.checked &&= !event.target.value.trim();
    if (!troubleOf(screen)) showTrouble(screen);
    written(screen);
  });
  form.addEventListener("change", (event) => {
    if (isOurs(event)) showTrouble(screenOf(event));
  });
  onKeysIn(form, "textarea.written", {
    Escape: (field) => field.closest(".pair").querySelector("legend").focus(),
    Enter: (field) => {
      field.blur(); // its change event checks the sentence and saves it
      if (troubleOf(field.closest(".pair"))) field.focus();
      else next();
    },
  });
}

function showTrouble(screen) {
  const trouble = troubleOf(screen);
  screen.querySelector(".written-trouble").textContent = trouble;
  fieldOf(screen).setAttribute("aria-invalid", String(trouble !== ""));
}

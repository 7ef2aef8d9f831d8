/* Answers that are written: one sentence for a picture. The server checks the same. */

const SAVE_AFTER = 800; // milliseconds without a key

const fieldOf = (screen) => screen.querySelector("textarea.written");

/** What is wrong with the sentence of a screen, in words; "" for a good one, for none, and where none is asked for. */
export function troubleOf(screen) {
  const field = fieldOf(screen);
  const text = field?.value.trim();
  if (!text) return "";
  const words = text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
  const letters = text.match(/\p{Lo}/gu)?.length ?? 0; // of a script without spaces between words
  if (words < field.dataset.words && letters < field.dataset.letters) return "Write a whole sentence.";
  const same = [...field.form.querySelectorAll("textarea.written")].find((other) => isSame(other, field));
  return same ? `You wrote this for ${same.closest(".pair").dataset.name.toLowerCase()} too. Write another sentence.` : "";
}

const isSame = (other, field) => other !== field && coreOf(other.value) === coreOf(field.value);

const coreOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();

/**
 * Let the sentences of a form be written: `written(screen)` at each key, `save(screen)` after a pause, `next()` at Enter.
 * Escape leaves the field, for the single keys.
 */
export function letWrite(form, { written, save, next }) {
  let waiting = null;
  const isOurs = (event) => event.target.matches("textarea.written");
  const screenOf = (event) => event.target.closest(".pair");

  form.addEventListener("input", (event) => {
    if (!isOurs(event)) return;
    const screen = screenOf(event);
    for (const radio of screen.querySelectorAll(".no-picture input")) radio.checked &&= !event.target.value.trim();
    if (!troubleOf(screen)) tell(screen);
    written(screen);
    clearTimeout(waiting);
    waiting = setTimeout(() => save(screen), SAVE_AFTER);
  });
  form.addEventListener("change", (event) => {
    if (isOurs(event)) tell(screenOf(event));
  });
  form.addEventListener("keydown", (event) => {
    if (!isOurs(event) || event.isComposing) return;
    if (event.key === "Escape") screenOf(event).querySelector("legend").focus();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    event.target.blur(); // tells what is wrong, and saves
    if (troubleOf(screenOf(event))) event.target.focus();
    else if (!event.repeat) next();
  });
}

function tell(screen) {
  const trouble = troubleOf(screen);
  screen.querySelector(".written-trouble").textContent = trouble;
  fieldOf(screen).setAttribute("aria-invalid", String(trouble !== ""));
}

/* Which key is pressed, for every page with keys: by what it prints, or else by its place on the keyboard. */

const FIELDS = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

/** Whether an input method composes text: its keys, also the Enter that takes a candidate, are its own. */
const isComposing = (event) => event.isComposing || event.keyCode === 229; // Safari ends composing before that Enter

/**
 * The names under which a key is looked up, the likelier first: a character in lower case, or a name such as "Enter".
 * None while text is composed, and with modifiers, which belong to the browser, but for "Ctrl+Enter". A digit is known by
 * its place too, as a French keyboard prints it with Shift only and a number pad without NumLock moves; a letter only
 * where a keyboard of another script prints other letters.
 */
export function keysOf(event) {
  if (isComposing(event) || event.altKey || event.getModifierState("AltGraph")) return [];
  if (event.ctrlKey || event.metaKey) return event.key === "Enter" ? ["Ctrl+Enter"] : [];
  const isNamed = /^[A-Z][A-Za-z0-9]+$/.test(event.key);
  const printed = isNamed ? event.key : event.key.toLowerCase();
  const [, row, digit] = /^(Digit|Numpad)([0-9])$/.exec(event.code) ?? [];
  if (row === "Numpad") return [digit, printed];
  if (row === "Digit") return event.shiftKey ? [printed] : [printed, digit];
  const [, letter] = /^Key([A-Z])$/.exec(event.code) ?? [];
  const isForeign = isNamed || (/^\p{L}/u.test(printed) && !/^[a-z]/.test(printed));
  return letter && isForeign ? [printed, letter.toLowerCase()] : [printed];
}

/**
 * Do the action of a pressed key: `actionOf(key)` returns it, or nothing. A key that is held down acts once, unless
 * `repeats`. Keys in a field for words or a list of choices are that field's own, but for Ctrl+Enter.
 */
export function onKeys(actionOf, { within = document, repeats = false } = {}) {
  within.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || (event.repeat && !repeats)) return;
    const isWriting = event.target.matches?.(FIELDS);
    for (const key of keysOf(event)) {
      const act = isWriting && key !== "Ctrl+Enter" ? null : actionOf(key);
      if (!act) continue;
      event.preventDefault();
      act();
      return;
    }
  });
}

/** The same for keys inside the elements that `selector` names: `actions` has a function of the element for each. */
export function onKeysIn(within, selector, actions) {
  within.addEventListener("keydown", (event) => {
    const act = !event.defaultPrevented && !event.shiftKey && event.target.matches(selector) && actions[keysOf(event)[0]];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act(event.target);
  });
}

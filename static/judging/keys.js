/* What each key does, and a swipe. */

import { onKeys } from "../keyboard.js";
import { read, write } from "./drafts.js";

const SWIPE = 60; // pixels
const isMirrored = document.documentElement.dir === "rtl"; // read from right to left
const SWITCH = "single keys"; // where this device keeps whether they are off

/** Letters for the reasons, in page order: four shortcomings, then ten wrong ways. They spare R, U and Z. */
export const REASON_KEYS = [..."abcdefghijklmn"];

/** Write each reason's letter after its input. */
export function labelReasons(pair) {
  pair.querySelectorAll(".reasons input").forEach((input, i) => {
    const key = document.createElement("kbd");
    key.setAttribute("aria-hidden", "true");
    key.textContent = REASON_KEYS[i].toUpperCase();
    input.after(key);
  });
}

/** Let `checkbox` switch off the keys that are single characters: speech input and stray touches type them too. */
export function switchKeys(checkbox) {
  const apply = () => document.documentElement.classList.toggle("no-keys", !checkbox.checked);
  checkbox.checked = !read(SWITCH).off;
  checkbox.addEventListener("change", () => {
    write(SWITCH, { off: !checkbox.checked });
    apply();
  });
  apply();
}

const isOff = () => document.documentElement.classList.contains("no-keys");

/**
 * Call the action of each key pressed. `actions`: answer(key), which returns what the answer with this key does, if there
 * is one, reason(number), previous, next, undo, zoom, report, help. `over()` is the dialog over the page, if one is: its
 * own key puts it away, and a picture is answered in the zoom too.
 */
export function listen(actions, over) {
  onKeys((key) => {
    if (key.length === 1 && isOff()) return null;
    const dialog = over()?.id;
    const isOurs = !dialog || (dialog === "help" ? key === "?" : ["z", "u"].includes(key));
    return (dialog !== "help" && actions.answer(key)) || (isOurs ? actionOf(key, actions) : null);
  });
}

function actionOf(key, actions) {
  if (REASON_KEYS.includes(key)) return () => actions.reason(REASON_KEYS.indexOf(key));
  return {
    ArrowLeft: isMirrored ? actions.next : actions.previous,
    ArrowRight: isMirrored ? actions.previous : actions.next,
    u: actions.undo,
    z: actions.zoom,
    r: actions.report,
    "?": actions.help,
  }[key];
}

/**
 * Call turn(1) or turn(-1) when one finger swipes the screen of `form` to the left or right; `shown()` is that screen,
 * which follows the finger and comes in from the side unless people ask for stillness. An enlarged picture is moved
 * instead, and a field for words is selected in.
 */
export function listenToSwipes(form, shown, turn) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let from = null;

  function end() {
    if (shown()) shown().style.translate = "";
    from = null;
  }

  form.addEventListener("pointerdown", (event) => {
    end();
    const isOurs = event.pointerType === "touch" && event.isPrimary && shown()?.contains(event.target);
    if (isOurs && !event.target.closest(".enlarged, textarea, select, input[type=text]")) from = event;
  });
  form.addEventListener("pointermove", (event) => {
    if (from && !isStill) shown().style.translate = `${event.clientX - from.clientX}px`;
  });
  form.addEventListener("pointercancel", end);
  form.addEventListener("pointerup", (event) => {
    const [dx, dy] = from ? [event.clientX - from.clientX, event.clientY - from.clientY] : [0, 0];
    end();
    if (Math.abs(dx) < Math.max(SWIPE, 2 * Math.abs(dy))) return;
    turn(dx < 0 !== isMirrored ? 1 : -1);
    if (!isStill) shown()?.animate({ translate: [`${-Math.sign(dx) * 20}%`, "0"], opacity: [0, 1] }, 160);
  });
}

/* Time left on the lease, and the seconds really spent on the page. */

import { fill, gettext, ngettext } from "./words.js";

const IDLE_AFTER = 60_000;
const WARN_AT = [10, 5, 1];

/**
 * Show the minutes left in `element` and call `announce(text)` when few are left; for the last five show `banner`, and call `short()` at
 * their start.
 */
export function showTimeLeft(element, banner, announce, short) {
  const end = performance.now() + Number(element.dataset.secondsLeft) * 1000;
  let last = null;

  function tick() {
    const minutes = Math.max(0, Math.ceil((end - performance.now()) / 60_000));
    if (minutes === last) return;
    element.textContent = minutes ? fill(gettext("%(n)s min left"), { n: minutes }) : gettext("time is up: submit soon");
    element.classList.toggle("short", minutes <= 5);
    banner.hidden = minutes > 5;
    banner.querySelector("p").textContent = minutes
      ? fill(ngettext("%(n)s minute is left for this HIT. Your answers are saved.", "%(n)s minutes are left for this HIT. Your answers are saved.", minutes), { n: minutes })
      : gettext("The time is up. You can still submit until another worker takes this HIT.");
    if (minutes <= 5 && (last === null || last > 5)) short();
    if (last !== null && (WARN_AT.includes(minutes) || minutes === 0)) announce(element.textContent);
    last = minutes;
  }

  tick();
  setInterval(tick, 1000);
}

/**
 * Count seconds with the page visible and in use into the form's `active_seconds`, and those of the screen that `shown()`
 * returns into its own hidden field. The HIT's `copy` keeps them when the page is closed; the server gives those of the
 * answers that it has.
 */
export function countActiveSeconds(form, screens, copy, shown) {
  const kept = copy?.remembered("clock") ?? {};
  const all = form.elements.active_seconds;
  const fields = screens.map((screen) => fieldOf(form, screen)).filter(Boolean);
  for (const own of fields) own.value = Math.max(Number(own.value), kept[own.name] ?? 0);
  const onScreens = fields.reduce((sum, own) => sum + Number(own.value), 0);
  all.value = Math.max(kept.active_seconds ?? 0, onScreens) || "";
  let used = performance.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll"]) {
    addEventListener(kind, () => (used = performance.now()), { passive: true });
  }
  setInterval(() => {
    if (document.hidden || performance.now() - used > IDLE_AFTER) return;
    const own = shown() && fieldOf(form, shown());
    for (const one of own ? [all, own] : [all]) one.value = Number(one.value) + 1;
    copy?.remember("clock", Object.fromEntries([all, ...fields].map((one) => [one.name, Number(one.value)])));
  }, 1000);
}

/** The seconds counted for a screen so far, as a field of its draft. */
export function secondsOn(form, screen) {
  const own = fieldOf(form, screen);
  return own ? { [own.name]: own.value } : {};
}

// A screen of several pairs has none.
const fieldOf = (form, screen) => form.elements[`seconds-${screen.dataset.place}`];

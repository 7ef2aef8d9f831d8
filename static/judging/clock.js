/* Time left on the lease, and the seconds really spent on the page. */

const IDLE_AFTER = 60_000;
const WARN_AT = [10, 5, 1];

/** Show the minutes left in `element`, tell `announce` when few are left, and show `banner` for the last five. */
export function showTimeLeft(element, banner, announce) {
  const end = performance.now() + Number(element.dataset.secondsLeft) * 1000;
  let last = null;

  function tick() {
    const minutes = Math.max(0, Math.ceil((end - performance.now()) / 60_000));
    if (minutes === last) return;
    element.textContent = minutes ? `${minutes} min left` : "time is up: submit soon";
    element.classList.toggle("short", minutes <= 5);
    banner.hidden = minutes > 5;
    banner.querySelector("p").textContent = minutes
      ? `${minutes} minute${minutes === 1 ? " is" : "s are"} left for this HIT. Your answers are saved.`
      : "The time is up. You can still submit until somebody else takes this HIT.";
    if (last !== null && (WARN_AT.includes(minutes) || minutes === 0)) announce(element.textContent);
    last = minutes;
  }

  tick();
  setInterval(tick, 1000);
}

/** Count seconds with the page visible and in use into `field`; the HIT's `copy` keeps them when the page is closed. */
export function countActiveSeconds(field, copy) {
  let seconds = Number(copy?.remembered("seconds")) || 0;
  let used = performance.now();
  field.value = seconds || "";
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll"]) {
    addEventListener(kind, () => (used = performance.now()), { passive: true });
  }
  setInterval(() => {
    if (document.hidden || performance.now() - used > IDLE_AFTER) return;
    seconds += 1;
    field.value = seconds;
    copy?.remember("seconds", seconds);
  }, 1000);
}

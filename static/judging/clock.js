/* Time left on the lease, and the seconds really spent on the page. */

const IDLE_AFTER = 60_000;
const WARN_AT = [10, 5, 1];

/** Show the minutes left in `element`, and tell `announce` when few are left. */
export function showTimeLeft(element, announce) {
  const end = performance.now() + Number(element.dataset.secondsLeft) * 1000;
  let last = null;

  function tick() {
    const minutes = Math.max(0, Math.ceil((end - performance.now()) / 60_000));
    if (minutes === last) return;
    element.textContent = minutes ? `${minutes} min left` : "time is up: submit soon";
    element.classList.toggle("short", minutes <= 5);
    if (last !== null && (WARN_AT.includes(minutes) || minutes === 0)) announce(element.textContent);
    last = minutes;
  }

  tick();
  setInterval(tick, 1000);
}

/** Count seconds with the page visible and in use into `field`; a reload goes on where it was. */
export function countActiveSeconds(field) {
  const key = `active ${location.pathname}`;
  let seconds = Number(remembered(key)) || 0;
  let used = performance.now();
  for (const kind of ["pointermove", "pointerdown", "keydown", "scroll"]) {
    addEventListener(kind, () => (used = performance.now()), { passive: true });
  }
  setInterval(() => {
    if (document.hidden || performance.now() - used > IDLE_AFTER) return;
    seconds += 1;
    field.value = seconds;
    remember(key, seconds);
  }, 1000);
}

// Storage may be switched off; the count then starts again with each load.
function remembered(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    /* see above */
  }
}

/* Pictures: fetched a little ahead, asked for again when they fail, enlarged on demand. */

const AHEAD = 2;
const TRIES = 6; // by itself, after 2, 4, 8 ... seconds
const LARGEST = 8; // times the size that fits the window
const STEP = 1.5;
const MOVED = 6; // pixels that make a press a drag

/** Load the picture of this pair and of the next two. */
export function loadAhead(pairs, index) {
  for (const pair of pairs.slice(index, index + 1 + AHEAD)) {
    for (const image of pair.querySelectorAll("img")) image.loading = "eager";
  }
}

/** Load a picture that failed again: a few times by itself, when the network is back, and on a click. */
export function retryFailures(pairs) {
  for (const figure of pairs.flatMap((pair) => [...pair.querySelectorAll(".picture")])) {
    const image = figure.querySelector("img");
    const again = figure.querySelector(".picture-again");
    const { src } = image;
    let tries = 0;

    const load = () => {
      image.loading = "eager";
      image.srcset = "";
      image.src = `${src}&again=${Date.now()}`;
    };
    const mark = (failed) => {
      figure.classList.toggle("failed", failed);
      if (again) again.textContent = failed ? "Load it again" : "Picture does not load?";
      if (!failed) tries = 0;
      else if (tries < TRIES) setTimeout(() => figure.classList.contains("failed") && load(), 1000 * 2 ** ++tries);
    };
    image.addEventListener("load", () => mark(false));
    image.addEventListener("error", () => mark(true));
    addEventListener("online", () => figure.classList.contains("failed") && load());
    if (image.complete && image.currentSrc && !image.naturalWidth) mark(true);
    again?.addEventListener("click", (event) => {
      event.preventDefault();
      load();
    });
  }
}

/**
 * Return toggle(link): show the picture behind a link as large as the window, or put it away. It is enlarged further by a
 * click, the buttons, the wheel, + and -, or two fingers, and moved by dragging.
 */
export function enlarger(dialog) {
  const view = dialog.querySelector(".zoom-view");
  const large = view.querySelector("img");
  const pointers = new Map(); // those that are down, by their id
  let scale = 1;
  let moved = 0;

  const middle = () => [view.clientWidth / 2, view.clientHeight / 2];

  /** Show the picture at `to` times the size that fits; the point (x, y) of the window stays where it is. */
  function zoom(to, x, y) {
    scale = Math.min(LARGEST, Math.max(1, to));
    const before = large.getBoundingClientRect();
    const fit = Math.min(view.clientWidth / large.naturalWidth, view.clientHeight / large.naturalHeight);
    large.style.width = `${large.naturalWidth * fit * scale}px`;
    large.style.height = `${large.naturalHeight * fit * scale}px`;
    const after = large.getBoundingClientRect();
    view.scrollLeft += after.left + ((x - before.left) / before.width) * after.width - x;
    view.scrollTop += after.top + ((y - before.top) / before.height) * after.height - y;
    dialog.querySelector("output").textContent = `${Math.round(scale * 100)}%`;
  }

  /** Follow one pointer that drags, or two that pinch. */
  function follow(event) {
    const from = pointers.get(event.pointerId);
    if (!from) return;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    moved += Math.hypot(dx, dy);
    view.scrollBy(other ? -dx / 2 : -dx, other ? -dy / 2 : -dy);
    if (other) {
      const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
      const to = { x: event.clientX, y: event.clientY };
      zoom((scale * apart(to)) / Math.max(1, apart(from)), (to.x + other.x) / 2, (to.y + other.y) / 2);
    }
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  view.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", follow);
  for (const kind of ["pointerup", "pointercancel"]) {
    view.addEventListener(kind, (event) => pointers.delete(event.pointerId));
  }
  view.addEventListener("click", (event) => {
    if (moved < MOVED) zoom(scale > 1 ? 1 : 2, event.clientX, event.clientY);
  });
  view.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? scale * STEP : scale / STEP, event.clientX, event.clientY);
    },
    { passive: false },
  );
  dialog.addEventListener("keydown", (event) => {
    if (["+", "="].includes(event.key)) zoom(scale * STEP, ...middle());
    if (event.key === "-") zoom(scale / STEP, ...middle());
  });
  dialog.querySelector("[data-zoom=in]").addEventListener("click", () => zoom(scale * STEP, ...middle()));
  dialog.querySelector("[data-zoom=out]").addEventListener("click", () => zoom(scale / STEP, ...middle()));
  large.addEventListener("load", () => zoom(1, ...middle()));

  return function toggle(link) {
    if (dialog.open) return dialog.close();
    dialog.showModal();
    large.src = link.href;
    large.alt = `${link.querySelector("img").alt}, enlarged`;
    if (large.complete && large.naturalWidth) zoom(1, ...middle());
  };
}

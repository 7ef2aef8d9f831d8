/* Pictures: all loaded when the page opens, asked for again when they fail, enlarged on demand. */

const AT_ONCE = 3; // pictures loaded beside each other while the first is looked at
const TRIES = 6; // by itself, after 2, 4, 8 ... seconds
const LARGEST = 8; // times the size that fits the window
const STEP = 1.5;
const MOVED = 6; // pixels that make a press a drag

const picturesOf = (pair) => [...pair.querySelectorAll(".picture img")];

const isLoaded = (image) => image.complete && image.naturalWidth > 0;

/** Whether a picture of this pair is not there to be judged: it still loads, or it failed. */
export const isPictureMissing = (pair) => !picturesOf(pair).every(isLoaded);

/** Load the pictures of the pair on the screen before those that wait for their turn. */
export function loadNow(pair) {
  for (const image of picturesOf(pair)) image.loading = "eager";
}

/** Load the pictures of the first of `pairs`, then all others in their order: they can then be judged without a network. */
export async function loadInTurn(pairs) {
  loadNow(pairs[0]);
  await Promise.all(picturesOf(pairs[0]).map(settled));
  const waiting = pairs.slice(1).flatMap(picturesOf);
  const loadWaiting = async () => {
    for (let image = waiting.shift(); image; image = waiting.shift()) {
      image.fetchPriority = "low";
      image.loading = "eager";
      await settled(image);
    }
  };
  for (let n = 0; n < AT_ONCE; n++) loadWaiting();
}

/** Resolve once a picture is loaded or failed. */
function settled(image) {
  return new Promise((resolve) => {
    if (image.complete && image.currentSrc) resolve();
    for (const kind of ["load", "error"]) image.addEventListener(kind, resolve, { once: true });
  });
}

/**
 * Mark the pictures that are missing, and load one that failed again: a few times by itself, when the network is back, and
 * on a click. `changed(pair)` is called when a picture of it is there or failed.
 */
export function watchPictures(pairs, changed) {
  for (const pair of pairs) {
    for (const picture of pair.querySelectorAll(".picture")) watch(picture, () => changed(pair));
    changed(pair);
  }
}

function watch(picture, changed) {
  const image = picture.querySelector("img");
  const { src } = image;
  let tries = 0;
  let hasFailed = false;

  const load = () => {
    hasFailed = false;
    image.loading = "eager";
    image.srcset = "";
    image.src = `${src}&again=${Date.now()}`;
  };
  const loadFailed = () => hasFailed && load();
  const mark = () => {
    hasFailed = image.complete && image.currentSrc !== "" && !isLoaded(image);
    picture.classList.toggle("missing", !isLoaded(image));
    if (hasFailed && tries < TRIES) setTimeout(loadFailed, 1000 * 2 ** ++tries);
    changed();
  };
  for (const kind of ["load", "error"]) image.addEventListener(kind, mark);
  addEventListener("online", loadFailed);
  picture.querySelector(".picture-again").addEventListener("click", load);
  mark();
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

/* Pictures: all loaded when the page opens, asked for again when they fail, and enlarged: under a lens, in their place by
   two fingers, or in the large view. */

import { onKeys } from "../keyboard.js";
import { fill, gettext } from "./words.js";

const AT_ONCE = 3; // pictures loaded at the same time while the first is looked at
const TRIES = 6; // by itself, after 2, 4, 8 ... seconds
const LARGEST = 8; // times the size that fits the window
const STEP = 1.5;
const MOVED = 6; // pixels that make a press a drag
const ARROW = 80; // pixels that an arrow key moves the large picture
const LENS = 2.5; // times that a lens enlarges
const LITTLE = 1.5; // times its size in the page that are too few for a large view

const picturesOf = (pair) => [...pair.querySelectorAll(".picture img")];

const isLoaded = (image) => image.complete && image.naturalWidth > 0;

/** Whether a picture of this pair is not there to be judged: it still loads, or it failed. */
export const isPictureMissing = (pair) => !picturesOf(pair).every(isLoaded);

/** Refuse to judge what cannot be seen, in words; only that the picture does not load can then be said. */
export function refuses(pair, input, announce) {
  const isRefused = isPictureMissing(pair) && !input.closest(".no-picture");
  if (!isRefused) return false;
  for (const picture of pair.querySelectorAll(".picture.missing")) picture.classList.add("refused");
  announce(gettext("The picture has not loaded yet. Wait for it, or try again."));
  return true;
}

/** The picture that Z enlarges: of several the one that has the focus or lies under the pointer, or the first. */
export const pictureAt = (pair) =>
  pair?.querySelector(".picture-link:is(:focus, :hover)") ?? pair?.querySelector(".picture-link");

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
 * Let `image`, which fills `view`, be enlarged by two fingers or the wheel and moved by dragging. In the page, the wheel
 * alone scrolls: it enlarges with Ctrl, which a touch pad sends for two fingers. `changed(scale)` is called.
 * Return { zoom(factor, x, y), move(dx, dy), scale(), wasMoved() }; x and y are a point of the window that stays.
 */
function zoomable(view, image, changed) {
  const pointers = new Map(); // those that are down, by their id
  let [scale, left, top] = [1, 0, 0];
  let moved = 0;

  /** Put the enlarged picture there, but never off an edge of its view. */
  function put(x, y) {
    left = Math.min(0, Math.max(view.clientWidth * (1 - scale), x));
    top = Math.min(0, Math.max(view.clientHeight * (1 - scale), y));
    image.style.transform = scale > 1 ? `translate(${left}px, ${top}px) scale(${scale})` : "";
  }

  function zoom(factor, x, y) {
    const box = view.getBoundingClientRect();
    const [fromLeft, fromTop] = [(x ?? box.left + box.width / 2) - box.left, (y ?? box.top + box.height / 2) - box.top];
    const before = scale;
    scale = Math.min(LARGEST, Math.max(1, scale * factor));
    const by = scale / before;
    put(fromLeft - (fromLeft - left) * by, fromTop - (fromTop - top) * by);
    changed(scale);
  }

  const move = (dx, dy) => put(left + dx, top + dy);

  /** Follow one pointer that drags, or two that pinch. */
  function follow(event) {
    const from = pointers.get(event.pointerId);
    if (!from) return;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    const to = { x: event.clientX, y: event.clientY };
    pointers.set(event.pointerId, to);
    moved += Math.hypot(to.x - from.x, to.y - from.y);
    if (!other) return move(to.x - from.x, to.y - from.y);
    const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
    move((to.x - from.x) / 2, (to.y - from.y) / 2);
    zoom(apart(to) / Math.max(1, apart(from)), (to.x + other.x) / 2, (to.y + other.y) / 2);
  }

  view.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  addEventListener("pointermove", follow);
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, (event) => pointers.delete(event.pointerId));
  view.addEventListener("dragstart", (event) => event.preventDefault());
  // The second finger must not begin to scroll or enlarge the page.
  view.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), { passive: false });
  view.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !view.closest("dialog")) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.clientX, event.clientY);
    },
    { passive: false },
  );
  return { zoom, move, scale: () => scale, wasMoved: () => moved >= MOVED };
}

/** Let the picture of a link be enlarged in its place; a click puts it back, or else calls `enlarge(link)`. */
export function letEnlarge(link, enlarge) {
  const image = link.querySelector("img");
  const inPlace = zoomable(link, image, (scale) => link.classList.toggle("enlarged", scale > 1));
  if (link.closest("figure")) layLens(link, image);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (event.detail && inPlace.wasMoved()) return; // the end of a drag
    if (inPlace.scale() > 1) inPlace.zoom(0);
    else enlarge(link);
  });
}

/** Let a lens follow the mouse over a picture, so that its sentence stays in sight. Escape closes it. */
function layLens(link, image) {
  const lens = document.createElement("span");
  const large = document.createElement("img");
  const sharp = new Image();
  lens.className = "lens";
  lens.hidden = true;
  large.alt = "";
  lens.append(large);
  let isRefused = false;

  function show(event) {
    if (event.pointerType !== "mouse" || isRefused || !isLoaded(image) || link.matches(".enlarged")) return hide();
    if (!lens.isConnected) link.append(lens);
    if (!sharp.src) sharp.src = link.href;
    const source = isLoaded(sharp) ? sharp.src : image.currentSrc; // without a network, what is there
    if (large.src !== source) large.src = source;
    lens.hidden = false;
    const box = link.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    lens.style.translate = `${x - lens.offsetWidth / 2}px ${y - lens.offsetHeight / 2}px`;
    large.style.width = `${box.width}px`;
    large.style.height = `${box.height}px`;
    large.style.transform = `translate(${lens.clientWidth / 2 - x * LENS}px, ${lens.clientHeight / 2 - y * LENS}px) scale(${LENS})`;
  }

  const hide = () => (lens.hidden = true);
  link.addEventListener("pointermove", show);
  link.addEventListener("pointerleave", () => {
    isRefused = false;
    hide();
  });
  addEventListener("keydown", (event) => {
    isRefused ||= event.key === "Escape" && !lens.hidden;
    if (isRefused) hide();
  });
}

/**
 * Return toggle(link): show the picture behind a link, with the sentences that it is compared with and buttons that
 * answer (`answersOf(pair)`), or put it away. It is
 * as large as the window; twice its size in the page where that would hardly differ, as on a phone.
 */
export function enlarger(dialog, answersOf) {
  const view = dialog.querySelector(".zoom-view");
  const large = view.querySelector("img");
  const words = dialog.querySelector(".zoom-words");
  const larger = dialog.querySelector("[data-zoom=in]");
  let small = null; // the picture in the page

  const { zoom, move, scale, wasMoved } = zoomable(view, large, (now) => {
    dialog.querySelector("output").textContent = `${Math.round(now * 100)}%`;
    dialog.classList.toggle("enlarged", now > 1);
  });

  function begin() {
    const shown = widthIn(small.closest(".picture-link"), small);
    const fitting = Math.min(view.clientWidth, (view.clientHeight * large.naturalWidth) / large.naturalHeight);
    zoom(0);
    if (fitting < LITTLE * shown) zoom((2 * shown) / fitting);
  }

  view.addEventListener("click", (event) => wasMoved() || zoom(scale() > 1 ? 0 : 2, event.clientX, event.clientY));
  const keys = {
    "+": () => zoom(STEP),
    "=": () => zoom(STEP),
    "-": () => zoom(1 / STEP),
    ArrowLeft: () => move(ARROW, 0),
    ArrowRight: () => move(-ARROW, 0),
    ArrowUp: () => move(0, ARROW),
    ArrowDown: () => move(0, -ARROW),
  };
  onKeys((key) => keys[key], { within: dialog, repeats: true });
  larger.addEventListener("click", () => zoom(STEP));
  dialog.querySelector("[data-zoom=out]").addEventListener("click", () => zoom(1 / STEP));
  large.addEventListener("load", begin);

  return function toggle(link) {
    if (dialog.open) return dialog.close();
    small = link.querySelector("img");
    const pair = link.closest(".pair");
    words.replaceChildren(...sentencesOf(pair).map((sentence) => sentence.cloneNode(true)), answersOf(pair));
    dialog.showModal();
    larger.focus(); // the attribute autofocus is refused in a platform's frame
    large.alt = fill(gettext("%(name)s, enlarged"), { name: small.alt });
    if (large.src === link.href && isLoaded(large)) begin();
    large.src = link.href;
  };
}

/** How wide the picture itself is drawn in its box, which it does not fill: it is never stretched. */
function widthIn(box, image) {
  const fit = Math.min(box.clientWidth / image.naturalWidth, box.clientHeight / image.naturalHeight);
  return image.naturalWidth * Math.min(1, fit);
}

/** The elements with the sentences that are compared with a picture. */
const sentencesOf = (pair) => [...pair.querySelectorAll(".sentence, .boxes [data-level='1'] span")];

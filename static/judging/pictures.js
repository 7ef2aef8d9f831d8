/* Pictures: fetched a little ahead, asked for again when they fail, enlarged on demand. */

const AHEAD = 2;

/** Load the picture of this pair and of the next two. */
export function loadAhead(pairs, index) {
  for (const pair of pairs.slice(index, index + 1 + AHEAD)) pair.querySelector("img").loading = "eager";
}

/** Offer another try where a picture fails, and take it on a click. */
export function retryFailures(pairs) {
  for (const pair of pairs) {
    const figure = pair.querySelector(".picture");
    const image = figure.querySelector("img");
    const again = figure.querySelector(".picture-again");
    const source = image.src;
    const mark = (failed) => {
      figure.classList.toggle("failed", failed);
      again.textContent = failed ? "Load it again" : "Picture does not load?";
    };
    image.addEventListener("load", () => mark(false));
    image.addEventListener("error", () => mark(true));
    if (image.complete && image.currentSrc && !image.naturalWidth) mark(true);
    again.addEventListener("click", (event) => {
      event.preventDefault();
      image.loading = "eager";
      image.src = `${source}?again=${Date.now()}`;
    });
  }
}

/** Return toggle(pair): show the pair's picture as large as the window, or put it away. */
export function enlarger(dialog) {
  const large = dialog.querySelector("img");
  return function toggle(pair) {
    if (dialog.open) return dialog.close();
    const image = pair.querySelector("img");
    large.src = image.src;
    large.alt = `${image.alt}, enlarged`;
    dialog.showModal();
  };
}

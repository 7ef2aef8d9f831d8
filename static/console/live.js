/* Parts of a page that change while work goes on: fetched again every few seconds while they are live and the page is
   seen; at once where something is still to come (aria-busy). Without this module a reload brings the page up to date. */

const REACHED = "a[href], button, summary, [tabindex]";
const note = document.querySelector("[data-live-note]");

function showNote(text) {
  if (!note) return;
  note.textContent = text;
  note.hidden = false;
}

/** Show new content; the focus stays where it was. */
function show(part, html) {
  const place = [...part.querySelectorAll(REACHED)].indexOf(document.activeElement);
  part.innerHTML = html;
  if (place >= 0) part.querySelectorAll(REACHED)[place]?.focus({ preventScroll: true });
}

function watch(part) {
  const every = 1000 * Number(part.dataset.every ?? 1);
  const going = note?.textContent;
  let shown = null;

  async function refresh() {
    if (document.hidden) return true;
    const answer = await fetch(part.dataset.live, { headers: { Accept: "application/json" }, redirect: "manual" });
    if (!answer.ok) {
      showNote("Stopped: the site does not answer correctly. Reload the page.");
      return answer.status >= 500;
    }
    const { live, html } = await answer.json();
    if (html !== shown) show(part, html);
    shown = html;
    showNote(going);
    return live;
  }

  async function again() {
    const goesOn = await refresh().catch(() => {
      showNote("No connection to the site; trying again.");
      return true;
    });
    if (goesOn) {
      setTimeout(again, every);
    } else if (part.dataset.then) {
      location.replace(part.dataset.then);
    } else {
      part.setAttribute("aria-busy", "false");
      document.querySelector(".when-live")?.remove();
    }
  }

  if (going) showNote(going);
  setTimeout(again, part.ariaBusy === "true" ? 0 : every);
}

for (const part of document.querySelectorAll("[data-live]")) watch(part);

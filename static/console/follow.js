/* A form whose parts follow what is typed: data-follows names the button that shows them, the parts carry
   data-followed. Without this module, the button does the same. */

const form = document.querySelector("form[data-follows]");
const show = document.getElementById(form.dataset.follows);
let waiting;
let asked;
show.hidden = true; // parts follow by themselves

function ask() {
  asked?.abort();
  asked = new AbortController();
  const fields = new FormData(form, show);
  if (form.method === "post") return fetch(form.action, { method: "post", body: fields, signal: asked.signal });
  return fetch(`?${new URLSearchParams(fields)}`, { signal: asked.signal });
}

/** Show the parts of the answer. Fields stay as they are typed, unless the change calls for others. */
function replaceParts(page, redraws) {
  for (const part of document.querySelectorAll("[data-followed]")) {
    if (!part.isConnected) continue; // within a part that was replaced
    const found = page.getElementById(part.id);
    if (!found) throw new Error(`no ${part.id}`);
    part.removeAttribute("aria-busy");
    if ((part.dataset.followed === "fields" && !redraws) || part.innerHTML === found.innerHTML) continue;
    const focused = part.contains(document.activeElement) && document.activeElement.id;
    part.replaceWith(document.adoptNode(found));
    if (focused) document.getElementById(focused)?.focus();
  }
}

async function refresh(redraws) {
  for (const part of document.querySelectorAll("[data-followed]")) part.setAttribute("aria-busy", "true");
  try {
    const answer = await ask();
    replaceParts(new DOMParser().parseFromString(await answer.text(), "text/html"), redraws);
    if (answer.ok && form.method === "get") history.replaceState(null, "", answer.url);
  } catch (error) {
    if (error.name !== "AbortError") form.requestSubmit(show);
  }
}

let redraws = false;
form.addEventListener("input", (event) => {
  clearTimeout(waiting);
  redraws ||= "redraws" in event.target.dataset;
  waiting = setTimeout(() => {
    refresh(redraws);
    redraws = false;
  }, 250);
});

/* What a budget is expected to correct, shown while it is typed. Without this module the button shows it. */

const form = document.querySelector("form[data-preview]");
const preview = document.getElementById("preview");
let waiting;
let asked;

async function show() {
  asked?.abort();
  asked = new AbortController();
  const budget = form.elements.again.value;
  if (!budget) return;
  preview.ariaBusy = "true";
  try {
    const answer = await fetch(`${form.action}?${new URLSearchParams({ again: budget })}`, { signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    preview.replaceChildren(...(page.getElementById("preview")?.childNodes ?? []));
    preview.ariaBusy = "false";
  } catch (error) {
    if (error.name !== "AbortError") preview.textContent = "The preview could not be loaded. Use the button.";
  }
}

form.addEventListener("input", () => {
  clearTimeout(waiting);
  // What was shown for another budget is not what would be ordered.
  form.elements.shown?.remove();
  form.querySelector(".actions button").textContent = "Show the order";
  waiting = setTimeout(show, 300);
});

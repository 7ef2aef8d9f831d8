/* What an order is expected to correct, shown while it is typed. Without this module the button shows it. */

const form = document.querySelector("form[data-preview]");
const fields = [form.elements.again, form.elements.twice];
const preview = document.getElementById("preview");
let waiting;
let asked;

async function show() {
  asked?.abort();
  asked = new AbortController();
  const typed = fields.filter((field) => field.value).map((field) => [field.name, field.value]);
  if (!typed.length) return;
  preview.ariaBusy = "true";
  try {
    const answer = await fetch(`${form.action}?${new URLSearchParams(typed)}`, { signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    preview.replaceChildren(...(page.getElementById("preview")?.childNodes ?? []));
    preview.ariaBusy = "false";
  } catch (error) {
    if (error.name !== "AbortError") preview.textContent = "The preview could not be loaded. Use the button.";
  }
}

form.addEventListener("input", (event) => {
  clearTimeout(waiting);
  for (const field of fields) if (field !== event.target) field.value = ""; // one of the two is ordered
  // What was shown for other values is not what would be ordered.
  form.elements.shown?.remove();
  form.querySelector(".actions button").textContent = "Show the order";
  waiting = setTimeout(show, 300);
});

/* Ctrl+K, or the link in the bar, opens the palette: a field and what the site finds by its text, as one types. Without
   this module the link leads to the same search as a page. */

const link = document.querySelector("[data-palette]");
let dialog = null;
let note = null;

function make() {
  const made = document.createElement("dialog");
  made.className = "palette";
  made.setAttribute("aria-label", "Go to");
  made.innerHTML = `<input type="search" role="combobox" aria-expanded="true" aria-controls="found" aria-autocomplete="list" autocomplete="off"
    aria-label="Name of a round, version, collection, worker, page or act" placeholder="round-1, pause round-1, activity …"><ul id="found" class="found" role="listbox" aria-label="Found"></ul>
    <p class="soft small" role="status"></p>`;
  note = made.querySelector("p");
  document.body.append(made);
  const field = made.querySelector("input");
  const list = made.querySelector("ul");
  field.addEventListener("input", () => fill(field, list));
  field.addEventListener("keydown", (event) => move(event, field, list));
  list.addEventListener("click", () => made.close());
  made.addEventListener("click", (event) => { if (event.target === made) made.close(); });
  return made;
}

/** Show what is found; answers to an earlier text that come late are left out. */
async function fill(field, list) {
  const text = field.value;
  const answer = await fetch(`${link.href}?part&q=${encodeURIComponent(text)}`).catch(() => null);
  if (!answer?.ok || field.value !== text) return;
  list.innerHTML = await answer.text();
  note.textContent = list.children.length ? "" : "No page has this name.";
  choose(field, list.querySelector("[role=option]"));
}

function choose(field, option) {
  option?.closest("ul").querySelector("[aria-selected]")?.removeAttribute("aria-selected");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option?.id ?? "");
}

function move(event, field, list) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
  if (!step && event.key !== "Enter") return;
  event.preventDefault();
  const options = [...list.querySelectorAll("[role=option]")];
  const chosen = options.findIndex((one) => one.ariaSelected === "true");
  if (step) choose(field, options[(chosen + step + options.length) % options.length]);
  else options[chosen]?.click();
}

function open() {
  dialog ??= make();
  const field = dialog.querySelector("input");
  dialog.showModal();
  field.select();
  fill(field, dialog.querySelector("ul"));
}

if (link) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || dialog?.open) return;
    event.preventDefault();
    open();
  });
}

/* The keys of a pair's page. Each presses what is already on the page; typing is left alone. */

const typing = "textarea, select, input:not([type=checkbox], [type=radio])";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches(typing)) return;
  const key = event.key.toLowerCase();
  const note = document.getElementById("note");
  if (key === "r" && note) {
    event.preventDefault();
    note.focus();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!target) return;
  event.preventDefault();
  target.click();
  if (key === "e" && target.parentElement.open) document.getElementById("grounds").focus();
});

// A second press while the first one is on its way would decide on a page that is gone.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

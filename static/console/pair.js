/* The keys of the page of a pair and of a worker's case. Each presses what is already on the page; typing is left alone,
   and so is an act in its dialog. */

import { onKeys } from "../keyboard.js";

onKeys((key) => {
  if (document.querySelector("dialog[open]")) return null;
  const note = document.getElementById("note");
  if (key === "r" && note) return () => note.focus();
  const target = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  return target && (() => press(target));
});

function press(target) {
  target.click();
  if (target.dataset.key === "e" && target.parentElement.open) document.getElementById("grounds").focus();
}

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

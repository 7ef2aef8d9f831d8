/* The review page's keys. Each presses what is already on the page; typing a reason is left alone. */

const form = document.querySelector("form[action$='/decide/']");
const targets = {
  c: "[name=votes_count][value=yes]",
  x: "[name=votes_count][value=no]",
  p: "[name=paid][value=yes]",
  u: "[name=paid][value=no]",
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form) {
    form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, input[type=text]")) return;
  const key = event.key.toLowerCase();
  if (key === "n") document.querySelector("[data-key=n]")?.click();
  if (key === "r" && form) {
    event.preventDefault();
    form.elements.reason.focus();
  }
  if (key in targets) form?.querySelector(targets[key])?.click();
});

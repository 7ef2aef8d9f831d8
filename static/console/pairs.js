/* One box that selects every pair of the page, and the number of those that are selected. */

const form = document.querySelector("form[data-pairs]");
const boxes = form ? [...form.querySelectorAll("input[name=pair]")] : [];

if (boxes.length) {
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Select all pairs of this page");
  const told = form.querySelector("[data-chosen]");
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && !all.checked;
    if (told) told.textContent = chosen ? `: ${chosen}` : "";
  };
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  form.addEventListener("change", count);
  count();
  form.querySelector("thead th").replaceChildren(all);
}

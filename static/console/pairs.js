/* One box that selects every pair of the page, and a button that is pressed once. */

const form = document.querySelector("form[data-pairs]");
const boxes = form ? [...form.querySelectorAll("input[name=pair]")] : [];

if (boxes.length) {
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Select all pairs of this page");
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  form.addEventListener("change", () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && !all.checked;
  });
  form.querySelector("thead th").replaceChildren(all);
}

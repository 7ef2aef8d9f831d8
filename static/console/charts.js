/* The value of the mark of a chart under the pointer, at once. Without this module, the browser shows it after a while. */

const value = document.createElement("div");
value.className = "value";
value.ariaHidden = "true"; // the label of a panel says all its values
value.hidden = true;
document.body.append(value);

function markAt(target) {
  const mark = target.closest?.(".chart svg :is([data-value], :has(> title))");
  const title = mark?.querySelector(":scope > title");
  if (title) {
    mark.dataset.value = title.textContent;
    title.remove(); // or the browser would show it a second time
  }
  return mark;
}

document.addEventListener("pointermove", (event) => {
  const mark = markAt(event.target);
  value.hidden = !mark;
  if (!mark) return;
  value.textContent = mark.dataset.value;
  const { width, height } = value.getBoundingClientRect();
  value.style.left = `${Math.max(4, Math.min(event.clientX - width / 2, innerWidth - width - 4))}px`;
  value.style.top = `${event.clientY > height + 24 ? event.clientY - height - 12 : event.clientY + 20}px`;
});

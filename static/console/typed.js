/* What people typed survives the end of their session: a form is remembered in this tab while it is sent, and filled in again
 * when the same person comes back to its page after logging in. Nothing is sent by itself. Passwords and files are not kept. */

const KEY = "counterpart typed";
const UNKEPT = ["hidden", "password", "file", "submit", "button", "image", "reset"];
const { account = "", expired } = document.body.dataset;
const here = location.pathname + location.search;

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null; // storage is switched off
  }
}

function keep(typed) {
  try {
    if (typed) sessionStorage.setItem(KEY, JSON.stringify(typed));
    else sessionStorage.removeItem(KEY);
  } catch { /* it is full or switched off: the form is sent all the same */ }
}

const fieldsOf = (form) => [...form.elements].filter((field) => field.name && !UNKEPT.includes(field.type));

function valueOf(field) {
  if (field.type === "select-multiple") return [...field.selectedOptions].map((option) => option.value);
  return ["checkbox", "radio"].includes(field.type) ? field.checked : field.value;
}

function fill(field, value) {
  if (field.type === "select-multiple") for (const option of field.options) option.selected = value.includes(option.value);
  else if (["checkbox", "radio"].includes(field.type)) field.checked = value;
  else field.value = value;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}

function fillAgain({ form: number, fields, hasFiles }) {
  const form = document.forms[number];
  const there = form ? fieldsOf(form) : [];
  if (there.length !== fields.length || there.some((field, place) => field.name !== fields[place][0])) return;
  there.forEach((field, place) => fill(field, fields[place][1]));
  const note = document.createElement("p");
  note.setAttribute("role", "status");
  note.textContent = `Your session had ended, and nothing was saved. What you typed is filled in again${hasFiles ? "; choose the files again" : ""}. Check it and send it.`;
  form.prepend(note);
  note.scrollIntoView({ block: "center" });
}

document.addEventListener("submit", ({ target: form, defaultPrevented }) => {
  if (!account || form.method !== "post" || defaultPrevented) return;
  const fields = fieldsOf(form).map((field) => [field.name, valueOf(field)]);
  const hasFiles = [...form.elements].some((field) => field.type === "file" && field.files.length);
  const number = [...document.forms].indexOf(form);
  keep(fields.length ? { account, page: here, form: number, fields, hasFiles, interrupted: false } : null);
});

const typed = kept();
if (typed && (!account || expired !== undefined)) {
  keep({ ...typed, interrupted: true });
  const back = document.querySelector("a[data-typed]");
  if (back) Object.assign(back, { href: typed.page, hidden: false });
} else if (typed?.account !== account || !typed.interrupted) {
  keep(null);
} else if (typed.page === here) {
  keep(null);
  fillAgain(typed);
}

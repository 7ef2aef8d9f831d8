/* The light table: keys that move between pairs and review them in place, the trail of a pair in a panel, and a box that
   selects every pair of the page. Without it, a pair's link leads to its own page, and boxes and buttons review. */

import { onKeys } from "../keyboard.js";

const form = document.querySelector("form[data-pairs]");
const panel = document.getElementById("trail");
const notice = document.querySelector("[data-trouble]");
const reviews = form?.querySelector(".conclude");
const UNREACHED = "Not saved: the server could not be reached. Try again.";
const UNLOADED = "The trail could not be loaded. Press T again.";
const pairs = () => [...form.querySelectorAll("[data-pair]")];
let current = null; // The pair that had the focus last.
let sending = Promise.resolve(); // Reviews are sent one after another, so that the last one is the one to undo.

const showTrouble = (trouble) => {
  notice.textContent = trouble;
  notice.hidden = !trouble;
};

/* Moving */

const choose = (pair) => {
  if (!pair) return;
  pair.querySelector("a.pair").focus();
  pair.scrollIntoView({ block: "nearest" });
  if (panel.matches(":popover-open")) showTrail(pair);
};

const step = (by) => {
  const all = pairs();
  choose(current ? all[all.indexOf(current) + by] : all[0]);
};

/* The pair below or above in the same column. */
const stepDown = (by) => {
  const column = pairs().filter((pair) => !current || pair.offsetLeft === current.offsetLeft);
  choose(current ? column[column.indexOf(current) + by] : column[0]);
};

/* The trail */

const showTrail = async (pair) => {
  const address = pair.querySelector("a.pair").pathname;
  panel.dataset.of = pair.dataset.pair;
  panel.querySelector("[data-open]").href = address;
  panel.showPopover();
  const answer = await fetch(address).catch(() => null);
  const html = answer?.ok && !answer.redirected ? await answer.text() : "";
  if (panel.dataset.of !== pair.dataset.pair) return; // Another one was chosen meanwhile.
  const page = new DOMParser().parseFromString(html, "text/html");
  panel.querySelector("[data-shown]").replaceChildren(page.getElementById("shown") ?? UNLOADED);
  panel.querySelector("[data-known]").replaceChildren(page.getElementById("known") ?? "");
};

const toggleTrail = () => {
  if (panel.matches(":popover-open")) panel.hidePopover();
  else if (current) showTrail(current);
};

/* Reviewing in place */

const conclude = (pair, level) => {
  const key = pair.dataset.pair;
  for (const one of alike(key)) one.dataset.sent = level;
  sending = sending.then(() => send(key, level)).catch(() => UNREACHED).then((trouble) => {
    showTrouble(trouble);
    for (const one of alike(key)) delete one.dataset.sent;
  });
};

const alike = (key) => pairs().filter((pair) => pair.dataset.pair === key);

/* Sends the review, and shows the pair as it then is. Returns what is wrong, "" if it is saved. */
const send = async (key, level) => {
  const body = new FormData();
  body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  body.set("pair", key);
  body.set("conclusion", level);
  body.set("seen", alike(key)[0].dataset.seen);
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  if (!answer.headers.get("Content-Type")?.includes("json")) return "Not saved. Reload the page and log in again.";
  const found = await answer.json();
  if (found.trouble) return found.trouble;
  document.querySelector("[data-undo]").innerHTML = found.undo;
  for (const pair of alike(key)) replace(pair, found.line);
  return "";
};

const replace = (pair, html) => {
  const holder = document.createElement("ul");
  holder.innerHTML = html;
  const made = holder.firstElementChild;
  const box = made.querySelector("[name=pair]");
  if (box) box.checked = pair.querySelector("[name=pair]").checked;
  const hadFocus = pair.contains(document.activeElement);
  pair.replaceWith(made);
  if (current === pair) current = made;
  if (hadFocus) made.querySelector("a.pair").focus();
};

const review = (level) => {
  if (!reviews || !current) return;
  conclude(current, level);
  step(1);
};

/* Keys and clicks */

const keys = {
  j: () => step(1),
  k: () => step(-1),
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ArrowDown: () => stepDown(1),
  ArrowUp: () => stepDown(-1),
  t: toggleTrail,
  u: () => document.querySelector("[data-undo] button")?.click(),
  x: () => current?.querySelector("[name=pair]")?.click(),
  "?": () => form.querySelector(".keys-help summary").click(),
};
for (const level of "1234") keys[level] = () => review(level);

if (form) {
  form.addEventListener("focusin", (event) => { current = event.target.closest("[data-pair]") ?? current; });
  form.addEventListener("click", (event) => {
    const link = event.target.closest("a.pair");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    current = link.closest("[data-pair]");
    showTrail(current);
  });
  panel.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) panel.hidePopover();
    const level = event.target.closest("[name=conclusion]")?.value;
    if (level) review(level);
  });
  onKeys((key) => (key === "Escape" && panel.matches(":popover-open") ? () => panel.hidePopover() : keys[key]));
  const reviewed = form.querySelector(`[data-pair="${CSS.escape(location.hash.slice(1))}"]`);
  if (reviewed) choose(reviewed); // Where the page returns after an undo.
}

/* Selecting */

const all = document.querySelector("[data-select-all]");

if (all) {
  const boxes = () => [...form.querySelectorAll("[name=pair]")];
  const count = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    all.checked = chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
    form.querySelector("[data-chosen]").textContent = chosen ? `: ${chosen}` : "";
  };
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    count();
  });
  form.addEventListener("change", count);
  count();
}

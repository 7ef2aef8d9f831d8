/* The links of acts open their page in a dialog, where it loads and has the act; else they lead to the page. An open menu
   of acts closes with Escape and with a click outside it. */

async function openAct(link) {
  const answer = await fetch(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const form = page.getElementById("act");
  if (!answer.ok || !form) return location.assign(link.href);
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "question");
  dialog.append(document.adoptNode(form));
  form.elements.back.value = location.pathname + location.search;
  form.querySelector("[data-close]").addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  return dialog.showModal();
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.more[open]")) {
    if (!menu.contains(event.target) || event.target.closest("[data-act]")) menu.open = false;
  }
  const link = event.target.closest("a[data-act]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openAct(link).catch(() => location.assign(link.href));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.more[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

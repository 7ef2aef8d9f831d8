/* Every page: tables that become cards on a phone, and buttons that copy a command or a link, where copying can work. */

/* A card names each value by the head of its column, and stays a table for screen readers. */
for (const table of document.querySelectorAll(".scroll > table:not(.lines)")) {
  const heads = [...table.querySelectorAll("thead tr:only-child > *")];
  const rows = [...table.querySelectorAll("tbody > tr, tfoot > tr")];
  if (!heads.length || [...heads, ...rows.flatMap((row) => [...row.children])].some((cell) => cell.colSpan > 1)) continue;
  table.classList.add("cards");
  table.setAttribute("role", "table");
  for (const row of rows) {
    row.setAttribute("role", "row");
    [...row.children].forEach((cell, column) => {
      cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
      if (heads[column]?.textContent.trim()) cell.dataset.label = heads[column].textContent.trim();
      cell.toggleAttribute("data-none", cell.textContent.trim() === "–");
    });
  }
}


if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
}

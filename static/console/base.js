/* Every page: buttons that copy a command or a link. They appear only where copying can work. */

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

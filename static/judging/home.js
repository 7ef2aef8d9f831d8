/* A worker's own page: copy its address, and install the pages on the device. */

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copies);
    button.textContent = button.dataset.done;
  });
}

const install = document.getElementById("install");
addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  install.hidden = false;
  install.onclick = () => event.prompt();
});
addEventListener("appinstalled", () => (install.hidden = true));

// The address of this sheet names the version of the shared files.
const version = new URL(".", document.querySelector("link[rel=stylesheet]").href).pathname;
navigator.serviceWorker?.register(`/judge/shell.js?of=${encodeURIComponent(version)}`, { scope: "/judge/" });

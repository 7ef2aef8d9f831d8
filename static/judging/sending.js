/* Takes the saved answers to the platform at once. Coming back to the page never sends them by itself. */

import { gettext } from "./words.js";

const form = document.getElementById("sending");

// Only once, or the two would cross each other on the way.
form.addEventListener("submit", () => {
  form.querySelector("button").disabled = true;
  document.getElementById("sending-text").textContent = gettext("Sending them to the platform …");
});
addEventListener("pageshow", (event) => event.persisted && location.replace(location.href));
form.requestSubmit();

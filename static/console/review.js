/* The review page's keys. Each presses what is already on the page; typing a reason is left alone. */

import { onKeys } from "../keyboard.js";

const form = document.querySelector("form[action$='/decide/']");
const targets = {
  c: "[name=votes_count][value=yes]",
  x: "[name=votes_count][value=no]",
  p: "[name=paid][value=yes]",
  u: "[name=paid][value=no]",
};

onKeys((key) => {
  if (key === "n") return () => document.querySelector("[data-key=n]")?.click();
  if (key === "r") return form && (() => form.elements.reason.focus());
  if (key === "Ctrl+Enter") return form && (() => form.requestSubmit());
  return form && targets[key] && (() => form.querySelector(targets[key])?.click());
});

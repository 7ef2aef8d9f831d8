/* The page of designs follows its sliders: numbers while they move, figures once they rest. Without this module, the
   button of the form does the same. */

const form = document.querySelector("form[data-designs]");
const FORMS = {
  percent: (value) => `${Math.round(100 * value)}%`,
  dollars: (value) => `$${Number(value).toFixed(2)}`,
  times: (value) => `× ${value}`,
  plain: (value) => value,
};
let waiting;
let asked;

for (const output of form.querySelectorAll("output[data-form]")) {
  const slider = document.getElementById(output.htmlFor);
  slider.addEventListener("input", () => {
    output.textContent = FORMS[output.dataset.form](slider.value);
  });
}

async function refresh() {
  asked?.abort();
  asked = new AbortController();
  const figures = document.getElementById("designs");
  const address = `?${new URLSearchParams(new FormData(form))}`;
  figures.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("designs");
    if (!found) throw new Error("no figures");
    figures.replaceWith(found);
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") form.submit();
  }
}

form.addEventListener("change", () => {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, 150);
});

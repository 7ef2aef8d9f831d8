/* The release form counts what the chosen rounds and sources would bring while they are chosen; without a round it says
   what to do. Without scripts, a link leads to a page that counts. */

const form = document.querySelector("form[data-counts]");
const output = document.getElementById("merge-counts");
const link = document.getElementById("show-conflicts");
const page = link.getAttribute("href");
const empty = output.textContent;
output.hidden = false;
let waiting;
let asked;

const sentence = (one) =>
  `${one.source}: ${one.pairs.toLocaleString("en")} pairs, ${one.new.toLocaleString("en")} new, ` +
  `${one.conflicts.toLocaleString("en")} conflict${one.conflicts === 1 ? "" : "s"}.`;

function describe(counts) {
  if (counts.error) return counts.error;
  const total = `${counts.positives.toLocaleString("en")} positive pairs in all.`;
  return [...counts.sources.map(sentence), total].join(" ");
}

async function count() {
  asked?.abort();
  asked = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  fields.delete("csrfmiddlewaretoken");
  for (const input of form.querySelectorAll("#credits [name]")) fields.delete(input.name);
  link.href = `${page}?${fields}`;
  if (!fields.has("rounds")) {
    output.textContent = empty;
    return;
  }
  output.textContent = "Counting…";
  try {
    const answer = await fetch(`${form.dataset.counts}?${fields}`, { signal: asked.signal });
    output.textContent = describe(await answer.json());
  } catch (error) {
    if (error.name !== "AbortError") output.textContent = "The counts could not be loaded.";
  }
}

form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(count, 400);
});
count();

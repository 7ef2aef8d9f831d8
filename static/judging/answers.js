/* One pair's answer: read from and written to its native radio groups. */

const PARTS = ["level", "shortcoming", "wrong_way"];

function chosen(pair, part) {
  return pair.querySelector(`input[name="${part}-${pair.dataset.place}"]:checked`)?.value ?? "";
}

function choose(pair, part, value) {
  for (const input of pair.querySelectorAll(`input[name="${part}-${pair.dataset.place}"]`)) {
    input.checked = input.value === value;
  }
}

/** Whether the chosen level asks for reasons in this round. */
export function asksReasons(pair) {
  return pair.querySelector(".reasons") !== null && pair.querySelector("input[data-asks]:checked") !== null;
}

/** What is chosen now; reasons left over from another level count as unchosen. */
export function readAnswer(pair) {
  const shortcoming = asksReasons(pair) ? chosen(pair, "shortcoming") : "";
  const wrongWay = shortcoming === "wrong_way" ? chosen(pair, "wrong_way") : "";
  return { level: chosen(pair, "level"), shortcoming, wrong_way: wrongWay };
}

export function writeAnswer(pair, answer) {
  for (const part of PARTS) choose(pair, part, answer[part]);
}

export function isFinished(pair) {
  const { level, shortcoming, wrong_way: wrongWay } = readAnswer(pair);
  if (!asksReasons(pair)) return level !== "";
  return shortcoming === "wrong_way" ? wrongWay !== "" : shortcoming !== "";
}

/** The chosen level in words, or "" while there is none. */
export function levelWords(pair) {
  const input = pair.querySelector(`input[name="level-${pair.dataset.place}"]:checked`);
  return input ? input.closest("label").querySelector("span").textContent : "";
}

/** Bring the reasons right under the level that asks for them. */
export function unfoldReasons(pair) {
  const reasons = pair.querySelector(".reasons");
  const asking = pair.querySelector("input[data-asks]:checked")?.closest("label");
  if (reasons && asking && asking.nextElementSibling !== reasons) asking.after(reasons);
}

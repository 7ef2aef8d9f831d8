/* Autosave: one message at a time, so that a slow one never overwrites a newer answer. */

const RETRY_AFTER = 3000;
const REPORT = "report "; // and the place: the name of a report among what is kept

export const reportName = (place) => REPORT + place;

/**
 * Return { save(name, fields), submit(form), close() }. `name` is the place of a pair, whose answer is saved, or
 * reportName(place). What the server has not confirmed stays in `copy`; `show(text, isTrouble)` reports progress,
 * `gone(text)` that the server takes no more answers of this HIT.
 */
export function draftSaver({ draftUrl, reportUrl }, copy, { show, gone }) {
  const waiting = new Map();
  let stopped = new AbortController();
  let sending = false;
  let trouble = ""; // until a save succeeds
  let refusal = "";
  let isOver = false; // submitted, given back or lost

  function report() {
    const where = copy.isKept() ? "on this device" : "while this page is open";
    if (refusal) show(refusal, true);
    else if (waiting.size && (trouble || !navigator.onLine))
      show(`${navigator.onLine ? trouble : "offline"}: ${counted([...waiting.keys()])} kept ${where}`, true);
    else show(waiting.size ? "saving" : "saved", false);
  }

  async function sendOne(name, fields) {
    const place = name.replace(REPORT, "");
    const url = name === place ? draftUrl : reportUrl;
    const body = new URLSearchParams({ place });
    for (const [part, value] of Object.entries(fields)) body.set(`${part}-${place}`, value);
    const { signal } = stopped;
    const response = await fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", signal });
    // Read to the end, or a later abort would stop an answer that has arrived.
    const text = await response.text();
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    return { error: response.ok ? "" : JSON.parse(text).error, isGone: response.status === 409 };
  }

  /** Send what waits until nothing is left, an answer is refused, or the page submits. */
  async function sendAll() {
    sending = true;
    while (waiting.size && !refusal && !stopped.signal.aborted) {
      const [name, fields] = waiting.entries().next().value;
      try {
        const { error, isGone } = await sendOne(name, fields);
        trouble = "";
        refusal = error;
        if (isGone) return close(error);
        if (waiting.get(name) === fields) {
          waiting.delete(name);
          copy.drop(name);
        }
      } catch (failure) {
        if (stopped.signal.aborted) break;
        trouble = causeOf(failure);
        report();
        await pause();
      }
    }
    sending = false;
    report();
  }

  function save(name, fields) {
    if (isOver) return;
    waiting.set(name, fields);
    copy.put(name, fields);
    refusal = "";
    report();
    if (!sending) sendAll();
  }

  function close(why) {
    isOver = true;
    waiting.clear();
    copy.clear();
    stopped.abort();
    if (why) gone(why);
  }

  /**
   * Store the whole form. Resolves to whether the server answered; the form then shows what it said. The draft under
   * way is aborted first, as the server refuses drafts after the answers themselves.
   */
  async function submit(form) {
    stopped.abort();
    try {
      const body = new URLSearchParams(new FormData(form));
      const options = { method: "POST", body, credentials: "omit", redirect: "manual" };
      const response = await fetch(form.action, options);
      await response.text();
      if (response.status >= 500) throw new Error(`status ${response.status}`);
      if (response.ok || response.type === "opaqueredirect" || response.status === 409) close();
      return true;
    } catch (failure) {
      trouble = causeOf(failure);
      stopped = new AbortController();
      if (!sending) sendAll();
      report();
      return false;
    }
  }

  for (const kind of ["online", "offline"]) addEventListener(kind, () => waiting.size && report());
  return { save, submit, close };
}

/** Count what waits: "2 answers, 1 report". */
function counted(names) {
  const reports = names.filter((name) => name.startsWith(REPORT)).length;
  const counts = { answer: names.length - reports, report: reports };
  const words = Object.entries(counts).filter(([, n]) => n);
  return words.map(([word, n]) => `${n} ${word}${n === 1 ? "" : "s"}`).join(", ");
}

/** A fetch that reaches nobody fails with a TypeError. */
const causeOf = (failure) => (failure instanceof TypeError ? "offline" : "not saved");

/** Wait a little, or until the network is back. */
function pause() {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_AFTER);
    addEventListener("online", resolve, { once: true });
  });
}

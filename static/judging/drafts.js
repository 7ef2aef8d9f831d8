/* Autosave: one message at a time, so that a slow one never overwrites a newer answer. */

const RETRY_AFTER = 3000;

/**
 * Return { save(place, answer), submit(form), close() }. What the server has not confirmed stays in `copy`;
 * `show(text, isTrouble)` reports progress, `gone(text)` that the server takes no more answers of this HIT.
 */
export function draftSaver(url, copy, { show, gone }) {
  const waiting = new Map();
  let stopped = new AbortController();
  let sending = false;
  let trouble = ""; // until a save succeeds
  let refusal = "";
  let isOver = false; // submitted, given back or lost

  function report() {
    const n = waiting.size;
    const where = copy.isKept() ? "on this device" : "while this page is open";
    if (refusal) show(refusal, true);
    else if (n && (trouble || !navigator.onLine))
      show(`${navigator.onLine ? trouble : "offline"}: ${n} answer${n === 1 ? "" : "s"} kept ${where}`, true);
    else show(n ? "saving" : "saved", false);
  }

  async function sendOne(place, answer) {
    const body = new URLSearchParams({ place });
    for (const [part, value] of Object.entries(answer)) body.set(`${part}-${place}`, value);
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
      const [place, answer] = waiting.entries().next().value;
      try {
        const { error, isGone } = await sendOne(place, answer);
        trouble = "";
        refusal = error;
        if (isGone) return close(error);
        if (waiting.get(place) === answer) {
          waiting.delete(place);
          copy.drop(place);
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

  function save(place, answer) {
    if (isOver) return;
    waiting.set(place, answer);
    copy.put(place, answer);
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

/** A fetch that reaches nobody fails with a TypeError. */
const causeOf = (failure) => (failure instanceof TypeError ? "offline" : "not saved");

/** Wait a little, or until the network is back. */
function pause() {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_AFTER);
    addEventListener("online", resolve, { once: true });
  });
}

/* Autosave: one message at a time, so that a slow one never overwrites a newer answer. */

const RETRY_AFTER = 3000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Return { save(place, answer), stop() }; `show(text, isTrouble)` reports progress. Call stop() before a form is
 * submitted: it drops the drafts that wait and aborts the one under way, as the server refuses drafts after the
 * answers themselves. Without a url nothing is saved.
 */
export function draftSaver(url, show) {
  if (!url) return { save() {}, stop() {} };
  const waiting = new Map();
  const stopped = new AbortController();
  let sending = false;

  async function sendOne(place, answer) {
    const body = new URLSearchParams({ place });
    for (const [part, value] of Object.entries(answer)) body.set(`${part}-${place}`, value);
    const { signal } = stopped;
    const response = await fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", signal });
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    // Read to the end, or a later stop() would abort an answer that has arrived.
    const { error } = await response.json();
    return response.ok ? "" : error;
  }

  async function sendAll() {
    sending = true;
    let refusal = "";
    while (waiting.size && !refusal) {
      const [place, answer] = waiting.entries().next().value;
      waiting.delete(place);
      try {
        refusal = await sendOne(place, answer);
      } catch {
        if (stopped.signal.aborted) return;
        if (!waiting.has(place)) waiting.set(place, answer);
        show("not saved, trying again", true);
        await pause(RETRY_AFTER);
      }
    }
    sending = false;
    show(refusal || "saved", Boolean(refusal));
  }

  function save(place, answer) {
    waiting.set(place, answer);
    show("saving", false);
    if (!sending) sendAll();
  }

  function stop() {
    waiting.clear();
    stopped.abort();
  }

  return { save, stop };
}

/*
 * Autosave: one message at a time, so that a slow one never overwrites a newer answer; and the copy of answers and
 * reports on this device, one entry for each pair of one assignment, until the server has them.
 */

import { fill, gettext, ngettext } from "./words.js";

const RETRY_AFTER = 3000;
const ANSWERS = "answers ";
const WORK = "work "; // what else is kept of a HIT: seconds of work, and what may be undone
const LIFE = 7 * 24 * 3600_000; // as long as a HIT's link opens
// A save that was under way when the page closed may have reached the server after a newer answer was given.
const MARGIN = 60_000;
const REPORT = "report "; // and the place: the name of a report among what is kept

export const reportName = (place) => REPORT + place;

/**
 * Return { save(name, fields), keep(name, fields), forget(name), submit(form), close() }. `name` is the place of a screen, whose answer is saved, or
 * reportName(place); `fields` are form fields by name. What the server has not confirmed stays in `copy`; `show(text, isTrouble)` reports progress,
 * `gone(text)` that the server takes no more answers of this HIT.
 */
export function draftSaver({ draftUrl, reportUrl }, copy, { show, gone }) {
  const waiting = new Map();
  let stopped = new AbortController();
  let sending = false;
  let trouble = ""; // until a save succeeds
  const refused = new Map(); // errors of answers that the server does not take as they are, by name
  let isOver = false; // submitted, given back or lost

  function report() {
    const where = copy.isKept() ? gettext("kept on this device") : gettext("kept while this page is open");
    const [error] = refused.values();
    if (error) show(error, true);
    else if (waiting.size && (trouble || !navigator.onLine))
      show(`${gettext(navigator.onLine ? trouble : "offline")}: ${counted([...waiting.keys()])} ${where}`, true);
    else show(waiting.size ? gettext("saving") : gettext("saved"), false);
  }

  async function sendOne(name, fields) {
    const place = name.replace(REPORT, "");
    const url = name === place ? draftUrl : reportUrl;
    const body = new URLSearchParams({ place, ...fields });
    const { signal } = stopped;
    const response = await fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", signal });
    // Read to the end, or a later abort would stop an answer that has arrived.
    const text = await response.text();
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    return { error: response.ok ? "" : errorIn(response, text), isGone: response.status === 409 };
  }

  /** Return the error of a refused draft, or the sentence of the page that refuses the whole HIT. */
  function errorIn(response, text) {
    if (response.headers.get("Content-Type").includes("json")) return JSON.parse(text).error;
    return new DOMParser().parseFromString(text, "text/html").querySelector("p.lead").textContent;
  }

  /** Send what waits until nothing is left or the page submits. */
  async function sendAll() {
    sending = true;
    while (waiting.size && !stopped.signal.aborted) {
      const [name, fields] = waiting.entries().next().value;
      try {
        const { error, isGone } = await sendOne(name, fields);
        trouble = "";
        if (isGone) return close(error);
        if (waiting.get(name) !== fields) continue; // it has changed meanwhile
        waiting.delete(name);
        if (error) refused.set(name, error);
        else copy.drop(name);
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
    keep(name, fields);
    if (!sending) sendAll();
  }

  /** Keep an answer that still changes, to be saved soon. */
  function keep(name, fields) {
    if (isOver) return;
    waiting.set(name, fields);
    copy.put(name, fields);
    refused.delete(name);
    report();
  }

  /** Another tab has a newer answer, and saves it. */
  function forget(name) {
    waiting.delete(name);
    refused.delete(name);
    report();
  }

  function close(why) {
    isOver = true;
    waiting.clear();
    copy.clear();
    stopped.abort();
    if (why) gone(why);
  }

  /**
   * Store the whole form. Resolves to "" once the server answered, and the form then shows what it said; otherwise to
   * the cause, "offline" or "not saved". Sending it again is harmless: the server takes it once. The draft under way is
   * aborted first, as the server refuses drafts after the answers themselves.
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
      return "";
    } catch (failure) {
      trouble = causeOf(failure);
      stopped = new AbortController();
      if (!sending) sendAll();
      report();
      return trouble;
    }
  }

  for (const kind of ["online", "offline"]) addEventListener(kind, () => waiting.size && report());
  return { save, keep, forget, submit, close };
}

/** Count what waits: "2 answers, 1 report". */
function counted(names) {
  const reports = names.filter((name) => name.startsWith(REPORT)).length;
  const answers = names.length - reports;
  const counts = [
    answers && fill(ngettext("%(n)s answer", "%(n)s answers", answers), { n: answers }),
    reports && fill(ngettext("%(n)s report", "%(n)s reports", reports), { n: reports }),
  ];
  return counts.filter(Boolean).join(", ");
}

/**
 * Have `saver` store the whole form and let the browser send it, while that `isWanted()`: again each time that the server could not be reached
 * or failed (`failed(cause)` is called then), and after a reload. Return whether the form was sent.
 */
export async function submitAgain(form, saver, copy, { isWanted, failed }) {
  while (isWanted()) {
    const cause = await saver.submit(form);
    if (!cause) {
      form.submit();
      return true;
    }
    copy.remember("submitted", true);
    failed(cause);
    await pause();
  }
  copy.remember("submitted", false);
  return false;
}

/** A fetch that reaches no server fails with a TypeError. */
const causeOf = (failure) => (failure instanceof TypeError ? "offline" : "not saved");

/** Wait a little, or until the network is back. */
function pause() {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_AFTER);
    addEventListener("online", resolve, { once: true });
  });
}

/**
 * Return the copy called `key`. Entries are timed by this device's clock, which its tabs share; `serverNow` is the
 * server's time in milliseconds. Where the browser allows no storage, nothing is kept and `isKept()` is false.
 */
export function deviceCopy(key, serverNow) {
  const name = ANSWERS + key;
  const work = WORK + key;
  const ahead = serverNow - Date.now(); // of this device's clock
  const ours = {}; // when this page put what

  function update(change) {
    const entries = read(name);
    change(entries);
    if (Object.keys(entries).length) write(name, entries);
    else remove(name);
  }

  return {
    put: (one, answer) => update((entries) => (entries[one] = { answer, at: (ours[one] = Date.now()) })),
    /** Remove what this page has put, not what another tab put later. */
    drop: (one) => update((entries) => entries[one]?.at === ours[one] && delete entries[one]),
    clear: () => [name, work].forEach(remove),
    /** Keep something else of this HIT, by its name, until the answers are in. */
    remember: (what, value) => write(work, { ...read(work), [what]: value, at: Date.now() }),
    remembered: (what) => read(work)[what],
    isKept: () => Object.keys(read(name)).length > 0,
    /**
     * Call `take(name, answer)` for each answer that another tab puts here; it may be saved and gone by then. A tab
     * writes all entries at once, and with its own also older ones of this page.
     */
    follow: (take) =>
      addEventListener("storage", ({ key, newValue }) => {
        if (key !== name || !newValue) return;
        for (const [one, { answer, at }] of Object.entries(JSON.parse(newValue)))
          if (at > (ours[one] ?? 0)) take(one, answer);
      }),
    /** What is kept of this pair, unless the server has an answer that was saved later (`savedAt`; 0: none). */
    newest(one, savedAt) {
      const entry = read(name)[one];
      return entry && entry.at + ahead + MARGIN > savedAt ? entry.answer : null;
    },
  };
}

/** Remove the copy called `key`, and those that are too old to be of use. */
export function forgetCopy(key) {
  for (const prefix of [ANSWERS, WORK]) remove(prefix + key);
  forgetOld();
}

export function forgetOld() {
  for (const name of names().filter((name) => [ANSWERS, WORK].some((prefix) => name.startsWith(prefix)))) {
    const record = read(name);
    const times = name.startsWith(WORK) ? [record.at] : Object.values(record).map((entry) => entry.at);
    if (!(Math.max(...times) > Date.now() - LIFE)) remove(name);
  }
}

// Storage may be switched off, full, or hold what another version wrote.
export function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

export function write(name, record) {
  try {
    localStorage.setItem(name, JSON.stringify(record));
  } catch {
    /* see above */
  }
}

function remove(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    /* see above */
  }
}

function names() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/*
 * Answers and reports wait in this browser, one entry for each pair of one assignment, and are saved together: many
 * answers in one request. docs/reliability.md says what this guards.
 */

import { fill, gettext, ngettext } from "./words.js";

const RETRY_AFTER = 3000;
const TOGETHER_AFTER = 60_000; // milliseconds that an answer waits for others, at most
const TOGETHER = 8; // so many are saved at once
const HURRIED_AFTER = 1000; // once this browser did not keep an answer, or the time of the HIT is almost up
const LARGEST_KEPT_ALIVE = 60_000; // bytes; a browser takes 64 KiB of a page that closes
const ANSWERS = "answers ";
const WORK = "work "; // what else is kept of a HIT: seconds of work, and what may be undone
const LIFE = 7 * 24 * 3600_000; // as long as a HIT's link opens
const MARGIN = 5000; // by which this device may misread the server's clock
const REPORT = "report "; // and the place: the name of a report among what is kept

export const reportName = (place) => REPORT + place;

/**
 * Return { save(name, fields), saveNow(), hurry(), forget(name), submit(form), close() }. `name` is the place of a screen, whose answer is saved, or
 * reportName(place); `fields` are form fields by name. What the server has not confirmed stays in `copy`; `show(text, isTrouble)` reports progress,
 * `gone(text)` that the server takes no more answers of this HIT.
 */
export function draftSaver(draftUrl, copy, { show, gone }) {
  const waiting = new Map();
  const underWay = new Set(); // fields that are being sent
  let timer = null;
  let stopped = new AbortController();
  let trouble = ""; // until a save succeeds
  const refused = new Map(); // errors of answers that the server does not take as they are, by name
  let isHurried = false;
  let isOver = false; // submitted, given back or lost

  function report() {
    const where = [...waiting.keys()].every(copy.keeps) ? gettext("kept on this device") : gettext("kept while this page is open");
    const [error] = refused.values();
    if (error) show(error, true);
    else if (waiting.size && (trouble || !navigator.onLine))
      show(`${gettext(navigator.onLine ? trouble : "offline")}: ${counted([...waiting.keys()])} ${where}`, true);
    else if (underWay.size) show(gettext("saving"), false);
    else show(waiting.size ? where : gettext("saved"), false);
  }

  const unsent = () => [...waiting].filter(([, fields]) => !underWay.has(fields));

  /** Send what waits, in one request. Return its errors by number, or why the server takes no more of this HIT. */
  async function send(batch, signal) {
    const body = new URLSearchParams(batch.map(([name, fields]) => ["saving", asForm(name, fields)]));
    const keepalive = `${body}`.length < LARGEST_KEPT_ALIVE;
    const response = await fetch(draftUrl, { method: "POST", body, keepalive, credentials: "omit", signal });
    // Read to the end, or a later abort would stop an answer that has arrived.
    const text = await response.text();
    if (response.status >= 500) throw new Error(`status ${response.status}`);
    const { errors, error } = readReply(response, text);
    return { errors: errors ?? batch.map(() => error), whyGone: response.status === 409 ? error : "" };
  }

  const asForm = (name, fields) => new URLSearchParams({ place: name.replace(REPORT, ""), at: copy.givenAt(name), ...fields });

  /** Return what the server says of the drafts, or the sentence of the page that refuses the whole HIT. */
  function readReply(response, text) {
    if (response.headers.get("Content-Type").includes("json")) return JSON.parse(text);
    return { error: new DOMParser().parseFromString(text, "text/html").querySelector("p.lead").textContent };
  }

  /** Save what waits now. Answers given meanwhile wait for the next time; the server takes the newest, whichever comes first. */
  async function saveNow() {
    clearTimeout(timer);
    timer = null;
    const batch = unsent();
    const { signal } = stopped;
    if (!batch.length) return;
    for (const [, fields] of batch) underWay.add(fields);
    report();
    try {
      const { errors, whyGone } = await send(batch, signal);
      if (signal.aborted) return;
      trouble = "";
      if (whyGone) return close(whyGone);
      batch.forEach(([name, fields], number) => settle(name, fields, errors[number]));
    } catch (failure) {
      if (signal.aborted) return;
      trouble = causeOf(failure);
      clearTimeout(timer); // it is tried again sooner
      timer = null;
    } finally {
      for (const [, fields] of batch) underWay.delete(fields);
      if (!signal.aborted) saveSoon();
    }
  }

  function settle(name, fields, error) {
    if (waiting.get(name) !== fields) return; // it has changed meanwhile
    waiting.delete(name);
    if (error) refused.set(name, error);
    else copy.drop(name);
  }

  function saveSoon() {
    const delay = trouble ? RETRY_AFTER : isHurried ? HURRIED_AFTER : TOGETHER_AFTER;
    if (!trouble && unsent().length >= TOGETHER) saveNow();
    else if (waiting.size) timer ??= setTimeout(saveNow, delay);
    report();
  }

  function save(name, fields) {
    if (isOver) return;
    waiting.set(name, fields);
    copy.put(name, fields);
    refused.delete(name);
    if (copy.keeps(name)) saveSoon();
    else hurry();
  }

  /** From now on, save every answer soon. */
  function hurry() {
    isHurried = true;
    saveNow();
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
    stop();
    if (why) gone(why);
  }

  function stop() {
    stopped.abort();
    clearTimeout(timer);
    timer = null;
  }

  /**
   * Store the whole form, with all that waits. Resolves to { cause: "" } once the server answered, and `isStored` if it
   * has the answers; otherwise to the cause, "offline" or "not saved". Sending it again is harmless: the server takes it
   * once. The drafts under way are aborted first, as the server refuses drafts after the answers themselves.
   */
  async function submit(form) {
    stop();
    try {
      const body = new URLSearchParams(new FormData(form));
      const options = { method: "POST", body, credentials: "omit", redirect: "manual" };
      const response = await fetch(form.action, options);
      await response.text();
      if (response.status >= 500) throw new Error(`status ${response.status}`);
      const isStored = response.type === "opaqueredirect";
      if (response.ok || isStored || response.status === 409) close();
      return { cause: "", isStored };
    } catch (failure) {
      trouble = causeOf(failure);
      stopped = new AbortController();
      saveSoon();
      return { cause: trouble };
    }
  }

  // Leaving the page hides it: another tab, another program, the lock of a phone.
  document.addEventListener("visibilitychange", () => document.hidden && saveNow());
  addEventListener("pagehide", saveNow);
  addEventListener("online", saveNow);
  addEventListener("offline", () => waiting.size && report());
  return { save, saveNow, hurry, forget, submit, close };
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
 * Have `saver` store the whole form and go to the page that follows, while that `isWanted()`: again each time that the server could not be
 * reached or failed (`failed(cause)` is called then), and after a reload. Return whether the form was sent.
 */
export async function submitAgain(form, saver, copy, { isWanted, failed }) {
  while (isWanted()) {
    const { cause, isStored } = await saver.submit(form);
    if (!cause) {
      // A platform's next page, and what is wrong with the answers, are the server's answer to the form itself.
      if (isStored && form.dataset.receiptUrl) location.assign(form.dataset.receiptUrl);
      else form.submit();
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
 * server's time in milliseconds. Where the browser allows no storage, nothing is kept.
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
    put(one, answer) {
      ours[one] = Math.max(Date.now(), (ours[one] ?? 0) + 1); // later than before, also where the clock was put back
      update((entries) => (entries[one] = { answer, at: ours[one] }));
    },
    /** When this page has put it, by the server's clock. */
    givenAt: (one) => Math.round(ours[one] + ahead),
    /** Remove what this page has put, not what another tab put later. */
    drop: (one) => update((entries) => entries[one]?.at === ours[one] && delete entries[one]),
    clear: () => [name, work].forEach(remove),
    /** Keep something else of this HIT, by its name, until the answers are in. */
    remember: (what, value) => write(work, { ...read(work), [what]: value, at: Date.now() }),
    remembered: (what) => read(work)[what],
    /** Whether what this page has put last is there: the storage may be full. */
    keeps: (one) => read(name)[one]?.at === ours[one],
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

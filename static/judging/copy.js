/* Answers and reports kept on this device until the server has them: one entry for each pair of one assignment. */

const PREFIX = "answers ";
const LIFE = 7 * 24 * 3600_000; // as long as a HIT's link opens
// A save that was under way when the page closed may have reached the server after a newer answer was given.
const MARGIN = 60_000;

/**
 * Return the copy called `key`. `serverNow`: the server's time in milliseconds, for entries are timed by its clock.
 * Where the browser allows no storage, nothing is kept and `isKept()` is false.
 */
export function deviceCopy(key, serverNow) {
  const name = PREFIX + key;
  const ahead = serverNow - Date.now();
  const now = () => Date.now() + ahead;

  function update(change) {
    const entries = read(name);
    change(entries);
    if (Object.keys(entries).length) write(name, entries);
    else remove(name);
  }

  return {
    put: (one, answer) => update((entries) => (entries[one] = { answer, at: now() })),
    drop: (one) => update((entries) => delete entries[one]),
    clear: () => remove(name),
    isKept: () => Object.keys(read(name)).length > 0,
    /** What is kept of this pair, unless the server has an answer that was saved later (`savedAt`; 0: none). */
    newest(one, savedAt) {
      const entry = read(name)[one];
      return entry && entry.at + MARGIN > savedAt ? entry.answer : null;
    },
  };
}

/** Remove the copy called `key`, and those that are too old to be of use. */
export function forgetCopy(key) {
  remove(PREFIX + key);
  forgetOld();
}

export function forgetOld() {
  for (const name of names().filter((name) => name.startsWith(PREFIX))) {
    const times = Object.values(read(name)).map((entry) => entry.at);
    if (!(Math.max(...times) > Date.now() - LIFE)) remove(name);
  }
}

// Storage may be switched off, full, or hold what another version wrote.
function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

function write(name, entries) {
  try {
    localStorage.setItem(name, JSON.stringify(entries));
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

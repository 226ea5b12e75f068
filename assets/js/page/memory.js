// What a browser remembers; one may forbid it, and then nothing is.

/** Where to remember: from one visit to the next, or for this visit alone, over its reloads. */
const ALWAYS = 'localStorage';
export const VISIT = 'sessionStorage';

/** Remember a text under a name that begins with `specviz-`. */
export function remember(key, value, where = ALWAYS) {
  try {
    window[where].setItem(key, value);
  } catch {
    return;
  }
}

/** What was remembered under this name, else null. */
export function remembered(key, where = ALWAYS) {
  try {
    return window[where].getItem(key);
  } catch {
    return null;
  }
}

// What happens in the labs of the tab Learn, for whom it concerns: the lessons.

const listeners = [];

/** Tell that something was done in a lab, and what came of it. */
export function announce(lab, detail) {
  for (const listener of listeners) listener(lab, detail);
}

/** Call `listener(lab, detail)` whenever something is done in a lab. */
export function onNews(listener) {
  listeners.push(listener);
}

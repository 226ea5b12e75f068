// Tells whom it concerns that a visitor has chosen a token of a lane.

const listeners = [];

/** Call `listener(token, race)` whenever a token is chosen by pointer or key. */
export function onChosenToken(listener) {
  listeners.push(listener);
}

/** A visitor has chosen a token. */
export function noteChosenToken(token, race) {
  for (const listener of listeners) listener(token, race);
}

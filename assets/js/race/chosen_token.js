// Tells whom it concerns that the visitor chose a token of a race.

const listeners = [];

/** A token was chosen: a `Token` of this race. */
export function noteChosenToken(token, race) {
  for (const listener of listeners) listener(token, race);
}

/** Call `listener(token, race)` whenever a token is chosen. */
export function onChosenToken(listener) {
  listeners.push(listener);
}

// The coins that judge a lane's guesses, counted from 0: which one decided over a token, and which was flipped.

/**
 * The number of the coin that decided over a token, null where none did, or one that has one side only.
 * @param {import('./race.js').Lane} lane
 * @param {import('./race.js').Token} token
 */
export function coinOf(lane, token) {
  if (!hasCoin(token) || token.accept_prob <= 0 || token.accept_prob >= 1) return null;
  let number = 0;
  for (const round of lane.rounds) {
    for (const each of round.tokens) {
      if (each === token) return number;
      if (hasCoin(each)) number += 1;
    }
  }
  return null;
}

/** The flipped coin that a lane shows the fork of: its own, or that of the lane which was forked from it. */
export function forkOf({ spec, specs }) {
  const coinIn = (each) => each.flipped_coin ?? null;
  if (coinIn(spec) !== null) return coinIn(spec);
  const alike = (other) => ['method', 'draft', 'gamma', 'schedule', 'confidence', 'exit_layer', 'rule', 'head', 'head_reading'].every((field) => other[field] === spec[field]);
  const forked = specs.find((other) => coinIn(other) !== null && alike(other));
  return forked ? coinIn(forked) : null;
}

/** Whether a coin was thrown over a token. */
export function hasCoin(token) {
  return token.fate.isJudged && (token.draw ?? null) !== null;
}

// The coins that judge a lane's guesses, counted from 0: which one decided over a token, and which were flipped.

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

/** The coins of a lane that were flipped; traces of earlier versions name one, or none. */
export function flippedOf({ flipped_coins: coins, flipped_coin: one = null }) {
  return coins ?? (one === null ? [] : [one]);
}

/** The coins of a lane in which one more falls the other way; those after it would be others, so they fall as they do. */
export function withFlipped(coins, coin) {
  const before = coins.filter((each) => each < coin);
  return coins.includes(coin) ? before : [...before, coin];
}

/** The coin at which a lane and another of the same kind part, the last of its own where it stands alone; else null. */
export function forkOf({ spec, specs }) {
  const own = flippedOf(spec);
  const alike = (other) => ['method', 'draft', 'gamma', 'schedule', 'confidence', 'exit_layer', 'rule', 'head', 'head_reading', 'tree', 'branches', 'budget'].every((field) => other[field] === spec[field]);
  const forks = specs.filter(alike).map((other) => firstApart(own, flippedOf(other))).filter((coin) => coin !== null);
  return forks.length ? Math.max(...forks) : own.at(-1) ?? null;
}

/** The first coin that is flipped in one of two lanes and not in the other, null where there is none. */
function firstApart(one, other) {
  const apart = [...one.filter((coin) => !other.includes(coin)), ...other.filter((coin) => !one.includes(coin))];
  return apart.length ? Math.min(...apart) : null;
}

/** Whether a coin was thrown over a token. */
export function hasCoin(token) {
  return token.fate.isJudged && (token.draw ?? null) !== null;
}

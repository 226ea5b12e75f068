// How a race stands by the server's figures: who leads, and in which range the best speedup lies.

/** Where each range after "slower" begins; a figure is sorted in as it is shown, with two decimals. */
const BOUNDS = [1, 1.5, 2, 3];

/** The ranges, as keys of the texts `predict.range_NAME`. */
export const RANGES = ['slower', 'little', 'well', 'double', 'triple'];

/**
 * Read a figures item: `best`, the highest speedup as a text, `range`, its place in RANGES, and
 * `leaders`, the lanes in front; null as long as no lane that guesses has a speedup.
 */
export function standingOf({ lanes }) {
  const entries = lanes
    .map((figures, lane) => ({ figures, lane, shown: Number.parseFloat(figures.speedup?.[0]) }))
    .filter(({ shown }) => !Number.isNaN(shown));
  if (!entries.length) return null;
  const highest = Math.max(...entries.map(({ shown }) => shown));
  const first = entries.filter(({ shown }) => shown === highest);
  const isSlower = first.every(({ figures }) => figures.is_slower);
  return {
    best: first[0].figures.speedup[0],
    range: isSlower ? 0 : BOUNDS.findLastIndex((bound) => Math.max(highest, 1) >= bound) + 1,
    leaders: isSlower ? [0] : first.map(({ lane }) => lane),
  };
}

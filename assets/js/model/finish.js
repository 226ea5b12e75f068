// What is told where a lane crosses the line: when it was done, and how far the other ones were.
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/**
 * The words on a lane's flag, null as long as it writes or where it was cut short.
 * @param {import('./race.js').Race} race
 * @param {import('./race.js').Lane} lane
 */
export function flagOf(race, lane) {
  if (!lane.isWhole) return null;
  const seconds = secondsOf(lane);
  return lane.isBaseline ? flagOfAlone(race, lane, seconds) : flagOfGuesses(race, lane, seconds);
}

/** Who is done and who still writes, for the time between the first and the last finish; else null. */
export function secondHalf(race) {
  const [first] = inOrder(race.lanes.filter((lane) => lane.isWhole));
  const rest = race.lanes.filter((lane) => !lane.hasEnded);
  if (!first || !rest.length) return null;
  const last = rest.find((lane) => lane.isBaseline) ?? rest[0];
  return { first, last, seconds: secondsOf(first), n: last.numEmitted };
}

/** The lanes that wrote their whole text, the one that was done first in front. */
export function inOrder(lanes) {
  return lanes.filter((lane) => lane.isWhole).sort((one, other) => one.clockMs - other.clockMs);
}

/** The time of a lane's clock, in seconds as they are written. */
export function secondsOf(lane) {
  return decimals(lane.clockMs / 1000, 2);
}

function flagOfGuesses({ baseline }, lane, seconds) {
  if (!baseline) return t('flag.done', { seconds });
  const isBehind = baseline.hasEnded && baseline.clockMs <= lane.clockMs;
  if (isBehind) return t('flag.behind', { seconds, alone: secondsOf(baseline) });
  return t('flag.ahead', { seconds, n: emittedBy(baseline, lane.clockMs) });
}

function flagOfAlone({ drafting }, lane, seconds) {
  const [first] = inOrder(drafting);
  if (!first || first.clockMs >= lane.clockMs) return t('flag.alone_first', { seconds });
  return t('flag.alone_after', { seconds, first: secondsOf(first) });
}

/** How many tokens a lane had written at a time of its clock. */
function emittedBy(lane, ms) {
  const index = lane.roundAt(ms);
  if (index < 0) return lane.numEmitted;
  return index === 0 ? 0 : lane.rounds[index - 1].numEmittedSoFar;
}

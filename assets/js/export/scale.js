// The axes of a drawn chart: which numbers they span, where their ticks stand, and how these are written.
import { percent, plain } from '../page/numbers.js';

const ABOUT_TICKS = 5;
const MOST_TICKS = 20;
const NICE = [1, 2, 5, 10];
/** Room beyond the outermost mark, as a share of the span. */
const ROOM = 0.05;
const MOST_DIGITS = 6;

/**
 * A linear axis: `low` to `high`, and its ticks.
 * @typedef {{ low: number, high: number, ticks: { at: number, text: string }[] }} Axis
 */

/**
 * Make an axis over these numbers, as the layout of a chart asks for it: `range`, `rangemode` (`tozero`),
 * `dtick`, `tickvals` with `ticktext`, `tickformat` (`.0%`, `d`) and `ticksuffix` of plotly's axes.
 * @param {number[]} numbers
 * @param {Record<string, any>} asked
 * @returns {Axis}
 */
export function axisOver(numbers, asked, isPadded = true) {
  const [low, high] = asked.range ?? spanOf(numbers, asked.rangemode === 'tozero', isPadded);
  return { low, high, ticks: ticksOf(low, high, asked) };
}

/** Where a number lies on an axis, from 0 to 1. */
export function shareOf({ low, high }, number) {
  return (number - low) / (high - low);
}

function spanOf(numbers, isToZero, isPadded) {
  if (!numbers.length) return [0, 1];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const low = isToZero ? Math.min(0, least) : least;
  const high = isToZero ? Math.max(0, most) : most;
  const room = isPadded ? ROOM * (high - low || 1) : 0;
  const isTouching = isToZero && low === 0;
  return low === high && !isPadded ? [low - 1, high + 1] : [isTouching ? 0 : low - room, high + room];
}

function ticksOf(low, high, asked) {
  if (asked.tickvals) return asked.tickvals.map((at, index) => ({ at, text: asked.ticktext[index] }));
  const step = asked.dtick ? wholeStep(asked.dtick, high - low) : niceStep(high - low, asked.tickformat === 'd');
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const digits = Math.max(0, Math.min(MOST_DIGITS, -Math.floor(Math.log10(step) + 1e-9)));
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const at = Number(((first + index) * step).toFixed(MOST_DIGITS));
    return { at, text: written(at, digits, asked) };
  });
}

/** The first of 1, 2, 5, 10, … that gives about five ticks; whole numbers have none between them. */
function niceStep(span, isWhole) {
  const rough = span / ABOUT_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (NICE.find((each) => each * power >= rough) ?? 10) * power;
  return isWhole ? Math.max(1, Math.round(step)) : step;
}

/** A step that was asked for, as many times as leaves room for the numbers. */
function wholeStep(dtick, span) {
  return dtick * Math.max(1, Math.ceil(span / dtick / MOST_TICKS));
}

function written(number, digits, { tickformat, ticksuffix = '' }) {
  if (tickformat === '.0%') return percent(number);
  return plain(number, digits) + ticksuffix;
}

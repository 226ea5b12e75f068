// The key figures: how each is shown, the counts behind it, and its formula with a race's own numbers.
import { flippedOf } from '../model/coins.js';
import { isRight } from '../model/names.js';
import { decimals, percent, times } from '../page/numbers.js';
import { t } from '../page/strings.js';

const MOST_DECIMALS = 6;
const FORMULA_DIGITS = 1;

/**
 * By id, in the order they are shown. `value`, `detail` and `formula` are texts for `(race, lane)`, and
 * where a figure has them `range`, beside its value, and `aside`, below its formula; `isUnlike` marks those that are easily taken for another one. The texts are `figure.ID`,
 * `figure.ID_meaning`, `_symbols`, `_detail`, `_formula` and `_unlike`.
 */
export const FIGURES = {
  speedup: {
    isUnlike: true,
    value: (race, { speedup }) => times(speedup),
    range: (race, { metrics }) => intervalOf(metrics),
    detail: (race, lane) => {
      const { window } = lane.metrics;
      return t(lane.isSlower ? 'figure.speedup_slower' : 'figure.speedup_detail', {
        own: decimals(window && window.ms / window.num_emitted, 2),
        alone: decimals(window && window.baseline_ms / window.baseline_num_emitted, 2),
      });
    },
    formula: (race, { metrics, speedup }) =>
      speedup !== null && t('figure.speedup_formula', clocks(metrics.window, speedup)),
    aside: (race, { metrics }) => intervalWords(metrics),
  },
  predicted: {
    isUnlike: true,
    value: (race, { metrics }) => times(metrics.predicted_speedup),
    detail: (race, { metrics }) => t('figure.predicted_detail', { efficiency: percent(metrics.efficiency) }),
    formula: (race, { metrics }) =>
      metrics.predicted_speedup !== null &&
      t('figure.predicted_formula', {
        expected: decimals(metrics.expected_tau, 3),
        cost: decimals(metrics.round_cost, 3),
        alpha: percent(metrics.alpha, FORMULA_DIGITS),
        c: decimals(metrics.draft_cost, 3),
        v: decimals(metrics.verify_cost, 3),
        value: times(metrics.predicted_speedup),
      }),
  },
  alpha: share('alpha', 'alpha', (counts) => ({
    accepted: counts.num_accepted,
    rejected: counts.num_rejected,
    judged: counts.num_accepted + counts.num_rejected,
  })),
  rate: share('rate', 'acceptance_rate', (counts) => ({
    accepted: counts.num_accepted,
    drafted: counts.num_drafted,
  })),
  tau: {
    isUnlike: true,
    value: (race, { metrics }) => decimals(metrics.tau, 2),
    detail: (race, { metrics }) => t('figure.tau_detail', tauCounts(metrics)),
    formula: (race, { metrics }) =>
      metrics.tau !== null &&
      t('figure.tau_formula', { ...tauCounts(metrics), value: decimals(metrics.tau, 2) }),
  },
  saved: share('saved', 'target_passes_saved', (counts) => ({
    passes: counts.num_target_forwards,
    tokens: counts.num_emitted,
  })),
  wasted: share('wasted', 'wasted_fraction', (counts) => ({
    thrown: counts.num_drafted - counts.num_accepted,
    drafted: counts.num_drafted,
    rejected: counts.num_rejected,
    discarded: counts.num_discarded,
  })),
  lossless: {
    isUnlike: false,
    value: (race, lane) => {
      const { key, ...values } = verdictOf(race, lane);
      return t(`output.${key}`, values);
    },
    detail: (race, lane) => output(race, lane, 'detail'),
    formula: (race, lane) => output(race, lane, 'why'),
  },
};

/** A figure that is a share of counts: whole percents, and a tenth more in its formula. */
function share(id, field, countsOf) {
  return {
    isUnlike: id === 'alpha' || id === 'rate',
    value: (race, { metrics }) => percent(metrics[field]),
    detail: (race, { metrics }) => t(`figure.${id}_detail`, countsOf(metrics)),
    formula: (race, { metrics }) => {
      const value = percent(metrics[field], FORMULA_DIGITS);
      return metrics[field] !== null && t(`figure.${id}_formula`, { ...countsOf(metrics), value });
    },
  };
}

function tauCounts({ num_emitted: tokens, num_rounds: rounds }) {
  return { tokens, rounds };
}

/** The interval around a speedup, empty where a race is too short to say. */
export function intervalOf({ speedup_low: low, speedup_high: high }) {
  if (low === null || high === null) return '';
  return t('figure.speedup_range', { low: decimals(low, 1), high: decimals(high, 1) });
}

/** Where the interval comes from. */
function intervalWords({ window, speedup_low: low, speedup_high: high }) {
  if (low === null) return '';
  const ends = { low: decimals(low, 2), high: decimals(high, 2) };
  return t('figure.speedup_interval', { ...ends, rounds: window.num_rounds });
}

/** Both clocks with the fewest decimals from which the value shown can be worked out. */
function clocks(window, speedup) {
  const value = times(speedup);
  let digits = 1;
  const round = (ms) => Number(ms.toFixed(digits));
  const alone = () => round(window.baseline_ms) / window.baseline_num_emitted;
  const worked = () => alone() / (round(window.ms) / window.num_emitted);
  while (digits < MOST_DECIMALS && times(worked()) !== value) digits += 1;
  return {
    baseline_ms: decimals(window.baseline_ms, digits),
    baseline_tokens: window.baseline_num_emitted,
    ms: decimals(window.ms, digits),
    tokens: window.num_emitted,
    value,
  };
}

/** What can be said of a lane's output: a key among the texts `output.KEY`, and its values. */
function verdictOf(race, { spec, verdict }) {
  if (!isRight(spec)) return brokenOf(race, verdict);
  if (flippedOf(spec).length) return { key: 'flipped', n: flippedOf(spec).length };
  if (!race.isGreedy) return { key: 'same_law' };
  if (!race.isOver) return { key: 'running' };
  if (!verdict) return { key: 'nothing' };
  const key = verdict.agreement.replaceAll('-', '_');
  return { key, n: verdict.num_compared, token: (verdict.first_difference ?? 0) + 1 };
}

/** A wrong rule does not become right by a text that it did not harm. */
function brokenOf(race, verdict) {
  const first = race.isGreedy && race.isOver ? (verdict?.first_difference ?? null) : null;
  return first === null ? { key: 'broken' } : { key: 'broken_seen', token: first + 1 };
}

function output(race, lane, kind) {
  const { key, ...values } = verdictOf(race, lane);
  return t(`output.${key}_${kind}`, values);
}

// The key figures: how each is shown, the counts behind it, and its formula with a race's own numbers.
import { decimals, percent, times } from '../page/numbers.js';
import { t } from '../page/strings.js';

const MOST_DECIMALS = 6;
const FORMULA_DIGITS = 1;

/**
 * By id, in the order they are shown. `value`, `detail` and `formula` are texts for `(race, lane)`;
 * `isUnlike` marks those that are easily taken for another one. The texts are `figure.ID`,
 * `figure.ID_meaning`, `_symbols`, `_detail`, `_formula` and `_unlike`.
 */
export const FIGURES = {
  speedup: {
    isUnlike: true,
    value: (race, { speedup }) => times(speedup),
    detail: (race, lane) =>
      t(lane.isSlower ? 'figure.speedup_slower' : 'figure.speedup_detail', {
        own: decimals(lane.metrics.ms_per_token, 2),
        alone: decimals(race.baseline?.metrics.ms_per_token, 2),
      }),
    formula: (race, lane) => lane.speedup !== null && t('figure.speedup_formula', clocks(race, lane)),
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
    value: (race, lane) => t(`output.${verdictOf(race, lane).key}`),
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

/** Both clocks with the fewest decimals from which the value shown can be worked out. */
function clocks({ baseline }, { metrics, speedup }) {
  const [alone, own] = [baseline.metrics, metrics];
  const value = times(speedup);
  let digits = 1;
  const round = (ms) => Number(ms.toFixed(digits));
  const worked = () => round(alone.ms) / alone.num_emitted / (round(own.ms) / own.num_emitted);
  while (digits < MOST_DECIMALS && times(worked()) !== value) digits += 1;
  return {
    baseline_ms: decimals(alone.ms, digits),
    baseline_tokens: alone.num_emitted,
    ms: decimals(own.ms, digits),
    tokens: own.num_emitted,
    value,
  };
}

/** What can be said of a lane's output: a key among the texts `output.KEY`, and its values. */
function verdictOf(race, { verdict }) {
  if (!race.isGreedy) return { key: 'same_law' };
  if (!race.isOver) return { key: 'running' };
  if (!verdict) return { key: 'nothing' };
  const key = verdict.agreement.replaceAll('-', '_');
  return { key, n: verdict.num_compared, token: (verdict.first_difference ?? 0) + 1 };
}

function output(race, lane, kind) {
  const { key, ...values } = verdictOf(race, lane);
  return t(`output.${key}_${kind}`, values);
}

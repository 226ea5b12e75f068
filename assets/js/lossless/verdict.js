// What a proof has shown, in plain words.
import { keyOf } from '../model/names.js';
import { percent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { pValue } from './checks.js';

/**
 * The words of a verdict and its `look`: `open` before there is one, `good`, `bad`, or `unsure` where a
 * wrong rule was not caught, or the right one was.
 * @returns {{ title: string, why: string, look: string }}
 */
export function verdictOf(begun, end, state) {
  if (!begun || !end) return open(state);
  const isRight = begun.rule === 'right';
  const isCaught = end.finding === 'different';
  const kind = end.kind === 'greedy' ? 'greedy' : 'sampled';
  const values = end.kind === 'greedy' ? greedyValues(end) : { n: end.num_done, p: pValue(end.p_value) };
  const fault = isRight ? '' : t(`rule.${keyOf(begun.rule)}_about`);
  if (isCaught && !isRight) {
    const shown = kind === 'greedy' ? t('proof.shown_greedy', values) : shownBy(end);
    return { title: t('proof.caught'), why: `${fault} ${shown} ${t(`proof.caught_${kind}`, values)}`, look: 'bad' };
  }
  if (isCaught) return { title: t('proof.differs'), why: t(`proof.differs_${kind}`, values), look: 'bad' };
  if (!isRight) return { title: t('proof.missed'), why: t(`proof.missed_${kind}`, values), look: 'unsure' };
  return { title: t(`proof.holds_${kind}_title`), why: t(`proof.holds_${kind}`, values), look: 'good' };
}

function open(state) {
  const key = { starting: 'running', running: 'running', stopped: 'stopped', error: 'stopped' }[state] ?? 'idle';
  return { title: t(`proof.${key}_title`), why: t(`proof.${key}`), look: 'open' };
}

function greedyValues({ num_texts: texts, num_tokens: tokens, counts }) {
  return { texts, tokens, same: counts.identical, ties: counts['near-tie'], others: counts.divergent };
}

/** The bar that shows it, or that none does by itself. */
function shownBy({ telltale }) {
  if (!telltale) return t('proof.shown_sums');
  const { kind, text, is_rest: isRest, share, target_prob: prob } = telltale;
  const values = { text: text.trim(), share: percent(share, 1), law: percent(prob, 1) };
  if (isRest) return t('proof.shown_rest', values);
  return t(`proof.shown_${kind}`, values);
}

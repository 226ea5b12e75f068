// What decided over one token: its probabilities as meters, the coin, the rule with its numbers, the verdict.
import { hasCoin } from '../model/coins.js';
import { keyOf } from '../model/names.js';
import { drawsWrongly } from '../model/wrong_steps.js';
import { make, visible, wrap } from '../page/dom.js';
import { chance, finePercent, percent, significant } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { wrongStepAt } from './wrong_step.js';

/**
 * @typedef {'nothing' | 'guessed' | 'checked' | 'decided'} Known
 * How much of a token may be told: not even the token, the draft's side, the target's too, its fate.
 * @typedef {{ token: import('../model/race.js').Token, round: import('../model/race.js').Round,
 *   lane: import('../model/race.js').Lane, isGreedy: boolean, known?: Known }} Evidence
 */

const FEWEST_DIGITS = 3;
const MOST_DIGITS = 6;

/** Whether a guess was not drawn from a distribution: copied, or picked, so that q is 1 on it. */
export function isPointMass(token) {
  return token.fate.isGuess && token.draft_prob === null;
}

/** Whether a guess is one of the draft's most probable tokens, taken as such and not drawn. */
export function isPicked(token) {
  return isPointMass(token) && (token.top_draft?.length ?? 0) > 0;
}

/** What the draft gave a guess, also where that is not what it was drawn from; null where nobody knows. */
export function draftProbOf(token) {
  return token.draft_prob ?? token.top_draft?.find(([id]) => id === token.id)?.[2] ?? null;
}

/** The draft's most probable tokens, as `[id, text, probability]`; where it has none, the guess itself. */
export function draftOf(token) {
  return isPointMass(token) && !isPicked(token) ? [[token.id, token.text, 1]] : token.top_draft;
}

/** What the law of the target lost to the siblings of a token that were thrown away before it was tried. */
export function takenBefore(token, { tokens, tree }) {
  const siblings = tree.rejectedBefore(tokens.indexOf(token)).map((index) => tokens[index]);
  return { num: siblings.length, share: siblings.reduce((sum, each) => sum + (each.target_prob ?? 0), 0) };
}

/**
 * Draw the decision over a token, in short for where many stand side by side. What is not known yet
 * keeps its room: `data-known` of the element says how much may be seen, and may be changed.
 * @param {Evidence} evidence
 */
export function decision(evidence, isShort = false) {
  const { token, round, known = 'decided' } = evidence;
  const rule = isShort ? shortRule(evidence) : fullRule(token, round);
  const verdict = isShort ? shortVerdict(evidence) : fullVerdict(evidence);
  const element = wrap('span', 'sv-decision', ...meters(token, isShort));
  element.dataset.known = known;
  if (rule) element.append(make('span', 'sv-rule', rule));
  if (verdict) element.append(make('span', `sv-verdict${hasCoin(token) ? ' has-coin' : ''}`, verdict));
  const isUnseen = token.fate.name === 'discarded' && wrongStepAt(evidence, token)?.kind !== 'kept_back';
  if (!isShort && isUnseen && known === 'decided') {
    element.append(make('span', 'sv-evidence-note', whyUnseen(token, round)));
  }
  return element;
}

function meters(token, isShort) {
  const rows = [];
  if (isPointMass(token)) rows.push(make('span', 'sv-meter-note', t(isPicked(token) ? 'rounds.picked' : 'rounds.no_q')));
  for (const [kind, prob] of [['draft', draftProbOf(token)], ['target', token.target_prob ?? null]]) {
    if (prob !== null) rows.push(meter(kind, t(`law.${kind}`), prob));
  }
  if (hasCoin(token)) rows.push(meter('accept', acceptLabel(token, isShort), token.accept_prob, token.draw));
  return rows;
}

function acceptLabel(token, isShort) {
  if (!isShort) return t('card.accept');
  return t(isPointMass(token) ? 'rounds.rule_point' : 'rounds.rule');
}

/** A probability as a bar; a coin lies where it fell. */
function meter(kind, label, prob, coin = null) {
  const fill = make('i', `sv-meter-fill sv-law-${kind}`);
  fill.style.width = `${100 * prob}%`;
  const track = wrap('span', 'sv-meter-track', fill);
  if (coin !== null) {
    const mark = make('i', 'sv-coin');
    mark.style.left = `${100 * coin}%`;
    track.append(mark);
  }
  const isPlain = prob >= 0.0005 && prob < 0.9995;
  const value = make('b', '', isPlain ? percent(prob, 1) : finePercent(prob));
  return wrap('span', `sv-meter sv-meter-${kind}`, make('span', 'sv-meter-label', label), track, value);
}

/** The accept rule with this token's numbers. */
function fullRule(token, round) {
  if (!hasCoin(token)) return null;
  const accept = chance(token.accept_prob, digitsOf(token));
  const { num: n, share } = takenBefore(token, round);
  if (isPointMass(token)) {
    const values = { p: significant(token.target_prob), taken: significant(share), accept, n };
    return t(n ? 'card.formula_left_certain' : isPicked(token) ? 'card.formula_picked' : 'card.formula_certain', values);
  }
  if (n) return t('card.formula_left', { accept, n });
  return t('card.formula', { p: significant(token.target_prob), q: significant(token.draft_prob), accept });
}

function fullVerdict(evidence) {
  const { token, round } = evidence;
  if (!token.fate.isGuess) return origin(evidence);
  if (!token.fate.isJudged) return null;
  const isKept = token.fate.name === 'accepted';
  if (!hasCoin(token)) return isKept ? t('card.greedy_kept') : greedyRejection(token, round);
  const digits = digitsOf(token);
  const values = { coin: chance(token.draw, digits), accept: chance(token.accept_prob, digits) };
  return t(isKept ? 'card.coin_kept' : 'card.coin_thrown', values);
}

/** The target's choice is a sibling that was kept, or what the target wrote itself. */
function greedyRejection({ parent }, { tokens }) {
  const instead =
    tokens.find((other) => other.parent === parent && other.fate.name === 'accepted') ??
    tokens.find((other) => other.fate.name === 'correction');
  if (!instead) return t('card.greedy_thrown');
  return t('card.greedy_thrown_for', { token: visible(instead.text) });
}

/** Where a token came from that nobody guessed. */
function origin({ token, round, lane, isGreedy }) {
  if (isGreedy) return t('card.greedy_chosen');
  const { num: n } = takenBefore(token, round);
  if (token.fate.name !== 'correction' || !n) return t('card.drawn_target');
  if (n > 1) return t('card.drawn_left', { n });
  return t(drawsWrongly(lane) ? `card.drawn_${keyOf(lane.spec.rule)}` : 'card.drawn_residual');
}

function shortRule(evidence) {
  const { token } = evidence;
  if (!token.fate.isGuess) return origin(evidence);
  if (!hasCoin(token)) return null;
  const digits = digitsOf(token);
  const values = { coin: chance(token.draw, digits), chance: chance(token.accept_prob, digits) };
  return t(token.draw < token.accept_prob ? 'rounds.coin_below' : 'rounds.coin_above', values);
}

function shortVerdict(evidence) {
  const { name, isGuess } = evidence.token.fate;
  if (wrongStepAt(evidence, evidence.token)?.kind === 'kept_back') return t('rounds.verdict_kept_back');
  return t(isGuess ? `rounds.verdict_${name}` : `fate.${name}`);
}

/** Why a guess was never judged. */
function whyUnseen(token, { tokens, tree }) {
  const settled = tree.settledBy(tokens.indexOf(token));
  if (settled === null) return t('card.unseen_end');
  return t(`card.unseen_${settled.why}`, { token: visible(tokens[settled.by].text) });
}

/** As many digits as tell the coin from the edge that it fell on one side of. */
function digitsOf({ draw, accept_prob: accept }) {
  let digits = FEWEST_DIGITS;
  while (digits < MOST_DIGITS && chance(draw, digits) === chance(accept, digits)) digits += 1;
  return digits;
}

// What decided over one token: its probabilities as bars, the coin, and the rule with its numbers.
import { make, visible } from '../core/dom.js';
import { t } from '../core/strings.js';

const FEWEST_DIGITS = 3;
const MOST_DIGITS = 6;
const JUDGED = new Set(['accepted', 'rejected']);

/** Elements that tell the decision; `fates` names the fate of each token of the round. */
export function decision(entry, fates) {
  const { token, outcome } = entry;
  const rows = make('div', 'sv-meters');
  if (token.q !== undefined) rows.append(meter(t('card.draft_prob'), token.q, 'draft'));
  if (token.p !== undefined) rows.append(meter(t('card.target_prob'), token.p, 'target'));
  const hasCoin = token.u !== undefined;
  if (hasCoin) rows.append(meter(t('card.accept'), token.a, 'accept', token.u));
  const parts = rows.hasChildNodes() ? [rows] : [];
  if (hasCoin) parts.push(make('p', 'sv-rule', rule(token)));
  const verdict = JUDGED.has(outcome.name) ? judgement(entry, fates) : origin(entry, fates);
  if (verdict) parts.push(make('p', `sv-verdict${hasCoin ? ' has-coin' : ''}`, verdict));
  if (hasRejectedSibling(entry, fates)) parts.push(make('p', 'sv-card-note', t('card.sibling_note')));
  if (entry.isGreedy && token.p !== undefined) {
    parts.push(make('p', 'sv-card-note', t('card.greedy_note')));
  }
  return parts;
}

/** The accept rule with this token's numbers. */
function rule(token) {
  const accept = token.a.toFixed(digitsOf(token));
  if (token.q === undefined) return t('card.formula_certain', { accept });
  return t('card.formula', { p: written(token.p), q: written(token.q), accept });
}

/** Why a guess was kept or not. */
function judgement({ token, outcome, tokens }, fates) {
  const isKept = outcome.name === 'accepted';
  if (token.u === undefined) {
    if (isKept) return t('card.greedy_kept');
    const instead = tokens[fates.indexOf('correction')];
    if (!instead) return t('card.greedy_thrown');
    return t('card.greedy_thrown_for', { token: visible(instead.t) });
  }
  const digits = digitsOf(token);
  const values = { coin: token.u.toFixed(digits), accept: token.a.toFixed(digits) };
  return t(isKept ? 'card.coin_kept' : 'card.coin_thrown', values);
}

/** Where a token came from that nobody guessed. */
function origin({ outcome, isGreedy }, fates) {
  if (outcome.name === 'discarded') return null;
  if (isGreedy) return t('card.greedy_chosen');
  const isReplacing = outcome.name === 'correction' && fates.includes('rejected');
  return t(isReplacing ? 'card.drawn_residual' : 'card.drawn_target');
}

/** In a tree, a guess whose sibling was rejected before it is judged by what that one left. */
function hasRejectedSibling({ token, tokens }, fates) {
  if (token.b === undefined || token.p === undefined) return false;
  const earlier = tokens.slice(0, tokens.indexOf(token));
  return earlier.some((other, index) => other.b === token.b && fates[index] === 'rejected');
}

/** As many digits as tell the coin from the edge that it fell on one side of. */
function digitsOf({ u, a }) {
  let digits = FEWEST_DIGITS;
  while (digits < MOST_DIGITS && u.toFixed(digits) === a.toFixed(digits)) digits += 1;
  return digits;
}

/** A probability in digits that a quotient can be worked out from. */
function written(share) {
  return String(Number(share.toPrecision(4)));
}

function meter(label, share, kind, coin) {
  const row = make('div', 'sv-meter');
  const track = make('div', 'sv-meter-track');
  const fill = make('div', `sv-meter-fill sv-law-${kind}`);
  fill.style.width = `${100 * share}%`;
  track.append(fill);
  if (coin !== undefined) {
    const mark = make('div', 'sv-coin');
    mark.style.left = `${100 * coin}%`;
    track.append(mark);
  }
  row.append(make('span', 'sv-meter-label', label), track, make('b', '', percent(share)));
  return row;
}

function percent(share) {
  return `${(100 * share).toFixed(share === 1 ? 0 : 1)} %`;
}

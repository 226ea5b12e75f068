// "Throw the coin again": what might have been at one position, on the recorded probabilities.
import { draftOf, isPointMass, takenBefore } from '../evidence/decision.js';
import { judgedFor } from '../evidence/distributions.js';
import { wrongStepAt } from '../evidence/wrong_step.js';
import { drawsWrongly } from '../model/wrong_steps.js';
import { make, makeButton, setText, visible, wrap } from '../page/dom.js';
import { chance, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { redrawn } from './cursor.js';

const MANY = 100;
const MOST_DOTS = 300;
const MOST_NAMES = 4;
/** Sources of replacements that nobody can draw from here. */
const HAVE_NONE = new Set(['sibling', 'left', 'unknown']);

/** Make the bench for the chosen token, where a coin decided over it and its fate is told; `makeFlip` as in `mountRounds`. */
export function makeCoin(cursor, makeFlip) {
  const factsOf = () => {
    const { token, round, known } = cursor.evidenceOf();
    return [token, round, known === 'decided'];
  };
  return redrawn('sv-round-coin', factsOf, (token, round, isTold) => {
    const judged = judgedFor(token, round);
    const why = reasonAgainst(judged, isTold, cursor.evidenceOf());
    const note = why && make('p', 'sv-evidence-note', t(`rounds.no_coin_${why}`));
    const flip = why ? null : makeFlip({ token: judged, lane: cursor.lane, race: cursor.race });
    const parts = why ? [note] : bench(judged, round, drawsWrongly(cursor.lane));
    return [make('h2', '', t('rounds.coin_title')), ...parts, ...(flip ? [flip] : [])];
  });
}

/** Why there is no coin to throw here, or null where there is. */
function reasonAgainst({ fate, draw }, isTold, evidence) {
  if (!isTold) return 'not_yet';
  if (evidence.isGreedy) return 'greedy';
  if (fate.name === 'discarded') {
    return wrongStepAt(evidence, evidence.token)?.kind === 'kept_back' ? 'kept_back' : 'discarded';
  }
  return fate.isJudged && draw !== null ? null : 'own';
}

/** Elements to throw new coins for a token; the race stays as it was. */
function bench(token, round, isWrong) {
  const { accept_prob: accept, draw } = token;
  const source = sourceOf(token, round);
  const dots = make('div', 'sv-coin-dots', '', { 'aria-hidden': 'true' });
  const text = make('p', 'sv-coin-text', '', { 'aria-live': 'polite' });
  const count = make('p', 'sv-coin-count', '', { 'aria-live': 'polite' });
  const others = make('p', 'sv-coin-others');
  const origin = make('p', 'sv-evidence-note');
  let thrown = [];

  const clear = () => {
    thrown = [];
    dots.replaceChildren();
    setText(text, t('rounds.coin_recorded', { coin: chance(draw), chance: chance(accept) }));
    for (const element of [count, others, origin]) setText(element, '');
  };
  const throwCoins = (times) => {
    const now = Array.from({ length: times }, () => throwCoin(token, source));
    thrown.push(...now);
    dots.append(...now.map(dot));
    while (dots.childElementCount > MOST_DOTS) dots.firstChild.remove();
    const kept = thrown.filter((each) => each.isKept).length;
    setText(text, times === 1 ? tellThrow(now[0], accept) : '');
    setText(count, t('rounds.tally', { kept, n: thrown.length, expected: finePercent(accept) }));
    setText(others, tellReplaced(thrown));
    if (thrown.length > kept) setText(origin, t(`rounds.source_${isWrong && source === 'recorded' ? 'wrong' : source}`));
  };

  clear();
  const zone = make('i', 'sv-coin-zone', '', { style: `width: ${100 * accept}%` });
  const mark = make('i', 'sv-coin-mark', '', { style: `left: ${100 * draw}%` });
  const scale = make('div', 'sv-coin-scale', '', { 'aria-hidden': 'true' });
  scale.append(make('span', '', t('rounds.scale_kept')), make('span', '', t('rounds.scale_thrown')));
  const buttons = [
    makeButton(t('rounds.throw_once'), () => throwCoins(1)),
    makeButton(t('rounds.throw_many', { n: MANY }), () => throwCoins(MANY)),
    makeButton(t('rounds.throw_clear'), clear),
  ];
  const track = wrap('div', 'sv-coin-track', zone, dots, mark);
  const note = make('p', 'sv-evidence-note', t('rounds.what_if'));
  return [track, scale, wrap('div', 'sv-coin-buttons', ...buttons), text, count, others, origin, note];
}

/** Where a replacement comes from: a sibling, the recorded residual, else what the top tens leave. */
function sourceOf(token, round) {
  if (token.top_residual.length) return 'recorded';
  const siblings = round.tree.siblingsOf(round.tokens.indexOf(token)).map((index) => round.tokens[index]);
  if (siblings.findLast((each) => each.fate.isGuess) !== token) return 'sibling';
  if (takenBefore(token, round).num) return 'left';
  if (!token.top_target.length) return 'unknown';
  return isPointMass(token) ? 'rest' : 'top';
}

function throwCoin(token, source) {
  const coin = Math.random();
  const isKept = coin < token.accept_prob;
  const hasNone = isKept || HAVE_NONE.has(source);
  const instead = hasNone ? null : drawFrom(source === 'recorded' ? token.top_residual : leftOf(token));
  return { coin, isKept, instead };
}

/** max(0, p − q) over the recorded top tens; a guess without a distribution has all of q on itself. */
function leftOf(token) {
  const draft = new Map((isPointMass(token) ? [[token.id, '', 1]] : draftOf(token)).map(([id, , prob]) => [id, prob]));
  const rest = (id, prob) => Math.max(0, prob - (draft.get(id) ?? 0));
  const left = token.top_target.map(([id, text, prob]) => [id, text, rest(id, prob)]);
  return left.some(([, , prob]) => prob > 0) ? left : token.top_target;
}

/** Draw a text from probabilities that need not add up to 1. */
function drawFrom(top) {
  let rest = Math.random() * top.reduce((sum, [, , prob]) => sum + prob, 0);
  for (const [, text, prob] of top) {
    rest -= prob;
    if (rest < 0) return text;
  }
  return top.at(-1)[1];
}

function tellThrow({ coin, isKept, instead }, accept) {
  const end = isKept ? 'kept' : instead === null ? 'thrown' : 'replaced';
  const values = { coin: chance(coin), chance: chance(accept), token: visible(instead ?? '') };
  return t(`rounds.again_${end}`, values);
}

function tellReplaced(thrown) {
  const counts = new Map();
  for (const { instead } of thrown) {
    if (instead !== null) counts.set(instead, (counts.get(instead) ?? 0) + 1);
  }
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMES);
  const list = most.map(([text, n]) => t('rounds.times_drawn', { token: visible(text), n }));
  return list.length ? t('rounds.replaced', { tokens: list.join(', ') }) : '';
}

function dot({ coin, isKept }) {
  const element = make('i', isKept ? 'sv-dot is-kept' : 'sv-dot');
  element.style.left = `${100 * coin}%`;
  element.style.top = `${10 + 80 * Math.random()}%`;
  return element;
}

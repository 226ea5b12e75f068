// Which steps of a round a lane's wrong rule got wrong, worked out from what was recorded.
import { isRight } from './names.js';

/**
 * A step that went wrong: what it was, in which stage of the round (0 draft, 2 decide), the indices of the tokens
 * that it touched, and what it was about.
 *
 * - `from_target`: the correction was drawn from p, not from what p has beyond q.
 * - `picked`: the guesses are the draft's favourites, judged as if they had been drawn.
 * - `kept_back`: the guesses behind a rejected one wait for the next round.
 * - `left_over`: the guesses of this round are those, judged by the pass before.
 * - `gap`, `unscaled`: the correction was drawn from what is left as it is; the draw fell beyond it, or not.
 * @typedef {'from_target' | 'picked' | 'kept_back' | 'left_over' | 'gap' | 'unscaled'} WrongKind
 * @typedef {{ kind: WrongKind, stage: 0 | 2, tokens: number[], about: Record<string, any> }} WrongStep
 * @typedef {{ lane: import('./race.js').Lane, round: import('./race.js').Round, isGreedy: boolean }} Place
 */

/** The id that a draw beyond the end of a distribution gives; `FALLS_ON` in `decoding/wrong_rules.py`. */
const FALLS_ON = 0;
/** Above such a remainder p and q differ, whatever was rounded. */
const LEAST_LEFT = 1e-9;
const CHANCE_STEPS = 1e6;
const FINDERS = {
  'target-resample': corrected,
  'argmax-softmax': picked,
  'keep-after-rejection': carried,
  'no-renormalise': corrected,
};

/**
 * The wrong steps of a round, none where the rule did no harm in it or is the right one.
 * @param {Place} place
 * @returns {WrongStep[]}
 */
export function wrongSteps(place) {
  return isRight(place.lane.spec) ? [] : FINDERS[place.lane.spec.rule](place);
}

/** Whether a rule is harmless at temperature 0, where all distributions are one-hot. */
export function isHarmless({ lane: { spec }, isGreedy }) {
  return isGreedy && spec.rule !== 'keep-after-rejection';
}

/** Whether a lane draws its corrections from another distribution than what p has beyond q. */
export function drawsWrongly({ spec: { rule } }) {
  return rule === 'target-resample' || rule === 'no-renormalise';
}

/** @returns {WrongStep[]} */
function corrected({ lane: { spec }, round, isGreedy }) {
  const index = indexOf(round, 'correction');
  const rejected = round.tokens[indexOf(round, 'rejected')];
  if (isGreedy || index < 0 || !rejected) return [];
  const token = round.tokens[index];
  const left = leftOf(rejected);
  const [, text = token.text, share = null] = rejected.top_residual.find(([id]) => id === token.id) ?? [];
  const about = { token, rejected, left, right: rightShare(token, rejected) };
  if (spec.rule === 'target-resample') {
    return [{ kind: 'from_target', stage: 2, tokens: [index], about: { ...about, share: token.target_prob } }];
  }
  // What p has beyond q there is at most p, where q was not recorded.
  const own = about.right === null ? token.target_prob : about.right * left;
  const isGap = token.id === FALLS_ON && share !== null && share > own + LEAST_LEFT;
  // A token that only marks something has no text of its own in the output.
  const named = { ...token, text };
  return [{ kind: isGap ? 'gap' : 'unscaled', stage: 2, tokens: [index], about: { ...about, share, token: named } }];
}

/** @returns {WrongStep[]} */
function picked({ round, isGreedy }) {
  const tokens = indicesOf(round, ({ fate }) => fate.isGuess);
  const judged = tokens.map((index) => round.tokens[index]).filter((token) => token.fate.isJudged);
  return isGreedy || !tokens.length ? [] : [{ kind: 'picked', stage: 0, tokens, about: { n: tokens.length, judged } }];
}

/** @returns {WrongStep[]} */
function carried({ lane, round }) {
  const steps = [];
  const before = lane.rounds[round.number - 2];
  if (before && waiting(before).length) {
    const tokens = [...round.tokens.keys()];
    const n = indicesOf(round, ({ fate }) => fate.isGuess).length;
    const rejected = before.tokens[indexOf(before, 'rejected')];
    steps.push({ kind: 'left_over', stage: 0, tokens, about: { n, rejected, token: before.tokens.at(-1) } });
  }
  const isEnd = lane.hasEnded && round === lane.rounds.at(-1);
  const tokens = isEnd ? [] : waiting(round);
  if (tokens.length) {
    const rejected = round.tokens[indexOf(round, 'rejected')];
    steps.push({ kind: 'kept_back', stage: 2, tokens, about: { n: tokens.length, rejected, token: round.tokens.at(-1) } });
  }
  return steps;
}

/** The guesses behind a rejected one that was replaced. */
function waiting(round) {
  if (indexOf(round, 'correction') < 0 || indexOf(round, 'rejected') < 0) return [];
  return indicesOf(round, ({ fate }) => fate.name === 'discarded');
}

/** How much of p lies beyond q at the place of a guess: what the right rule scales up to 1. */
function leftOf({ overlap }) {
  return overlap === null ? null : 1 - overlap;
}

/**
 * The most probable tokens of what the right rule draws from in place of a rejected guess, `[id, text, probability]`:
 * (p - q) / (1 - Σ min(p, q)) of the recorded ten. A token outside the draft's ten counts as if its q were 0.
 */
export function rightResidual(rejected) {
  const left = leftOf(rejected);
  if (left === null || left < LEAST_LEFT) return [];
  const found = rejected.top_target.map(([id, text, prob]) => [id, text, Math.max(0, prob - (draftProb(rejected, id) ?? 0)) / left]);
  return found.filter(([, , prob]) => prob > 0).map(([id, text, prob]) => [id, text, rounded(prob)]);
}

/** The chance that the right rule gives a token in place of a rejected guess, null where q was not recorded for it. */
function rightShare(token, rejected) {
  const [left, prob] = [leftOf(rejected), draftProb(rejected, token.id)];
  if (left === null || left < LEAST_LEFT || prob === null || token.target_prob === null) return null;
  return rounded(Math.max(0, token.target_prob - prob) / left);
}

/** A chance without what the rounding of recorded numbers left over. */
function rounded(share) {
  return Math.min(1, Math.round(share * CHANCE_STEPS) / CHANCE_STEPS);
}

/** q of a token at the place of a guess: all of it lies on a guess that came without a distribution. */
function draftProb(guess, id) {
  if (guess.draft_prob === null) return id === guess.id ? 1 : 0;
  if (id === guess.id) return guess.draft_prob;
  return guess.top_draft.find(([other]) => other === id)?.[2] ?? null;
}

function indexOf({ tokens }, fate) {
  return tokens.findIndex((token) => token.fate.name === fate);
}

function indicesOf({ tokens }, isMeant) {
  return [...tokens.keys()].filter((index) => isMeant(tokens[index]));
}

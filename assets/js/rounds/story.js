// One round in plain words: whole sentences of the table, chosen by what happened.
import { isPointMass } from '../evidence/decision.js';
import { keyOf } from '../model/names.js';
import { wrongSteps } from '../model/wrong_steps.js';
import { chance, decimals, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';

const BIDI = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const LONGEST = 80;

/**
 * Tell the round at a cursor, as far as it is known at its beat.
 * @param {import('./cursor.js').Cursor} cursor
 */
export function tellRound({ round, beats, beat, lane, race: { isGreedy } }) {
  const wrong = new Map(wrongSteps({ lane, round, isGreedy }).map((step) => [step.kind, step.about]));
  const stage = beats.stageOf(beat);
  const isAmid = beat < beats.ends[stage];
  if (stage === 0 && isAmid) return t(round.isTree ? 'story.drafting_tree' : 'story.drafting');
  const told = guesses(round, beats, lane, wrong);
  if (stage === 1) told.push(...pass(round, beats, lane, wrong));
  else if (stage === 2 && isAmid) told.push(t(round.isTree ? 'story.deciding_tree' : 'story.deciding'));
  else if (stage === 2) {
    told.push(...decisions(round, beats, isGreedy, wrong), t('story.sum', { n: round.written.length }));
  }
  return told.join(' ');
}

function guesses(round, beats, lane, wrong) {
  const n = beats.guessed.length;
  const left = wrong.get('left_over');
  if (left && n) {
    return [t('story.wrong_left_over', { n, tokens: text(round, beats.guessed), rejected: inSentence(left.rejected.text) })];
  }
  return [made(round, beats, lane), ...(wrong.has('picked') ? [t('story.wrong_picked')] : [])];
}

function made(round, beats, lane) {
  const method = keyOf(lane.spec.method);
  const n = beats.guessed.length;
  if (!n && round.facts.gamma === 0 && !lane.isBaseline) return t('story.nothing_left');
  if (!n) return t(`story.nothing_${method}`);
  const { numLevels: levels, numBranches: branches } = round.tree;
  if (round.isTree) return t('story.tree', { n, levels, branches });
  return t(`story.guessed_${method}`, { n, tokens: text(round, beats.guessed) });
}

function pass(round, beats, lane, wrong) {
  const values = { n: beats.guessed.length + 1, ms: decimals(round.times.verify, 1) };
  const how = round.isTree ? 'checked_tree' : beats.guessed.length ? 'checked' : 'checked_plain';
  const told = [t(`story.${how}`, values)];
  const left = wrong.get('left_over');
  if (left) told.push(t('story.wrong_old_pass', { rejected: inSentence(left.rejected.text) }));
  const step = lane.metrics?.step_ms ?? null;
  if (step !== null) told.push(t('story.plain_step', { ms: decimals(step, 1) }));
  return told;
}

function decisions(round, beats, isGreedy, wrong) {
  if (!beats.guessed.length) return [t('story.wrote', { token: text(round, beats.added) })];
  return round.isTree ? decideTree(round, beats, isGreedy) : decideChain(round, beats, isGreedy, wrong);
}

function decideChain(round, beats, isGreedy, wrong) {
  const { kept } = beats;
  const added = text(round, beats.added);
  if (beats.fates.at(-1) === 'bonus') return [t('story.bonus', { n: kept.length, token: added })];
  const told = kept.length ? [t('story.kept', { tokens: text(round, kept) })] : [];
  const rejected = round.tokens[beats.fates.indexOf('rejected')];
  if (!rejected) return [...told, t('story.ended'), ...unseen(beats)];
  const order = kept.length ? 'then' : 'first';
  told.push(t(`story.thrown_${order}_${ruleOf(rejected, isGreedy)}`, rejection(rejected, added)));
  told.push(...(wrong.has('kept_back') ? [t('story.wrong_kept_back', { n: wrong.get('kept_back').n })] : unseen(beats)));
  const kind = ['from_target', 'gap', 'unscaled'].find((each) => wrong.has(each));
  if (kind) told.push(t(`story.wrong_${kind}`, { token: added }));
  else if (!isGreedy) told.push(t(isPointMass(rejected) ? 'story.rest' : 'story.residual', { token: added }));
  return told;
}

/** Siblings that were thrown away above a guess that was kept, and those at the end, where none was. */
function decideTree(round, beats, isGreedy) {
  const { kept } = beats;
  const [last] = beats.added;
  const atEnd = last === undefined ? 0 : round.tree.rejectedBefore(last).length;
  const n = beats.judged.length - kept.length - atEnd;
  const told = kept.length ? [t('story.branch', { tokens: text(round, kept) })] : [];
  if (n) told.push(t('story.tree_thrown', { n }));
  const added = text(round, beats.added);
  if (beats.fates.at(-1) === 'bonus') told.push(t('story.tree_bonus', { token: added }));
  else if (beats.added.length) {
    told.push(t(isGreedy ? 'story.tree_choice' : 'story.tree_residual', { n: atEnd, token: added }));
  } else told.push(t('story.ended'));
  return [...told, ...unseen(beats)];
}

function unseen(beats) {
  const n = beats.guessed.length - beats.judged.length;
  return n ? [t('story.unseen', { n })] : [];
}

/** Which of the three rules threw a guess away: the first choice, a coin on p / q, a coin on p. */
function ruleOf(token, isGreedy) {
  if (isGreedy) return 'greedy';
  return isPointMass(token) ? 'point' : 'coin';
}

function rejection(token, choice) {
  return {
    token: inSentence(token.text),
    choice,
    q: finePercent(token.draft_prob),
    p: finePercent(token.target_prob),
    chance: finePercent(token.accept_prob),
    coin: chance(token.draw),
  };
}

function text({ tokens }, indices) {
  return inSentence(indices.map((index) => tokens[index].text).join(''));
}

/** Model text inside a sentence: on one line, not too long, and in no sentence's way. */
function inSentence(text) {
  const line = text.replaceAll('\n', '⏎').replaceAll('\t', '⇥') || '∅';
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  // A line must not end between a quotation mark and its token.
  const joined = short.replace(/^ | $/g, '\u00a0');
  // Signs that turn the direction of writing end with the isolate.
  return BIDI.test(joined) ? `\u2068${joined}\u2069` : joined;
}

// One round in plain words: whole sentences of the table, chosen by what happened.
import { written } from './rounds_book.js';
import { chance, inSentence, milliseconds, percent } from './rounds_format.js';
import { t } from '../core/strings.js';

/** @typedef {{ round: object, beats: Beats, spec: object, isGreedy: boolean, plainStep: ?string }} Scene */

/** Tell a round as far as it is known at the end of a stage (0 draft, 1 verify, 2 decide). */
export function tellStage(scene, stage) {
  const told = [guesses(scene)];
  if (stage === 0) return told[0];
  if (stage === 1) return [...told, ...pass(scene)].join(' ');
  const n = written(scene.round).length;
  return [...told, ...decisions(scene), t('story.sum', { n })].join(' ');
}

/** Tell what goes on while the guesses are made one by one. */
export function tellDrafting() {
  return t('story.drafting');
}

/** Tell what goes on while the guesses are decided one by one. */
export function tellDeciding(scene) {
  return [guesses(scene), t('story.deciding')].join(' ');
}

function guesses({ round, beats, spec }) {
  const method = spec.method.replaceAll('-', '_');
  const n = beats.guessed.length;
  if (!n && round.gamma === 0 && !spec.plain) return t('story.nothing_left');
  if (!n) return t(`story.nothing_${method}`);
  const branches = numBranches(round, beats);
  if (branches > 1) return t('story.tree', { n, branches });
  return t(`story.guessed_${method}`, { n, tokens: text(round, beats.guessed) });
}

function pass({ round, beats, plainStep }) {
  const values = { n: beats.guessed.length + 1, ms: milliseconds(round.ms[1]) };
  const told = [t(beats.guessed.length ? 'story.checked' : 'story.checked_plain', values)];
  if (plainStep !== null) told.push(t('story.plain_step', { ms: plainStep }));
  return told;
}

function decisions(scene) {
  const { round, beats } = scene;
  if (!beats.guessed.length) return [t('story.wrote', { token: text(round, beats.added) })];
  return numBranches(round, beats) > 1 ? decideTree(scene) : decideChain(scene);
}

function decideChain({ round, beats, isGreedy }) {
  const kept = beats.judged.filter((place) => beats.fates[place] === 'accepted');
  const added = text(round, beats.added);
  if (beats.fates.at(-1) === 'bonus') return [t('story.bonus', { n: kept.length, token: added })];
  const told = kept.length ? [t('story.kept', { tokens: text(round, kept) })] : [];
  const rejected = round.tokens[beats.fates.indexOf('rejected')];
  if (!rejected) return [...told, t('story.ended'), ...unseen(beats)];
  const order = kept.length ? 'then' : 'first';
  told.push(t(`story.thrown_${order}_${ruleOf(rejected, isGreedy)}`, rejection(rejected, added)));
  told.push(...unseen(beats));
  if (!isGreedy) told.push(t(rejected.q === undefined ? 'story.rest' : 'story.residual', { token: added }));
  return told;
}

function decideTree({ round, beats, isGreedy }) {
  const kept = beats.judged.filter((place) => beats.fates[place] === 'accepted');
  const n = beats.judged.length - kept.length;
  const told = kept.length ? [t('story.branch', { tokens: text(round, kept) })] : [];
  if (n) told.push(t('story.tree_thrown', { n }));
  told.push(...unseen(beats));
  const added = text(round, beats.added);
  if (beats.fates.at(-1) === 'bonus') told.push(t('story.tree_bonus', { token: added }));
  else if (beats.added.length) {
    told.push(t(isGreedy ? 'story.tree_choice' : 'story.tree_residual', { token: added }));
  } else told.push(t('story.ended'));
  return told;
}

function unseen(beats) {
  const n = beats.guessed.length - beats.judged.length;
  return n ? [t('story.unseen', { n })] : [];
}

/** Which of the three rules threw a guess away: the first choice, a coin on p / q, a coin on p. */
function ruleOf(token, isGreedy) {
  if (isGreedy) return 'greedy';
  return token.q === undefined ? 'point' : 'coin';
}

function rejection(token, choice) {
  const { q = 0, p = 0, a = 0, u = 0 } = token;
  return {
    token: inSentence(token.t),
    choice,
    q: percent(q),
    p: percent(p),
    chance: percent(a),
    coin: chance(u),
  };
}

function numBranches(round, beats) {
  const parents = new Set(round.tokens.map((token) => token.b));
  if (!parents.size || (parents.size === 1 && parents.has(undefined))) return 1;
  return beats.guessed.filter((place) => !parents.has(place)).length;
}

function text(round, places) {
  return inSentence(places.map((place) => round.tokens[place].t).join(''));
}

// The distributions at one position: the most probable tokens of draft, target and residual as paired bars.
import { drawsWrongly, rightResidual } from '../model/wrong_steps.js';
import { draftOf, isPicked, isPointMass, takenBefore } from './decision.js';
import { wrongStepAt } from './wrong_step.js';
import { make, visible, wrap } from '../page/dom.js';
import { chance, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';

const NUM_ROWS = 10;
/** Less of the widest bar than this would be an edge without an area. */
const LEAST_SHARED = 0.005;
const KNOWN = ['nothing', 'guessed', 'checked', 'decided'];
/** A distribution's top ten, the field of the token's own probability, and since when both are known. */
const KINDS = [
  { kind: 'draft', topOf: draftOf, own: 'draft_prob', since: 'guessed' },
  { kind: 'target', topOf: (token) => token.top_target, own: 'target_prob', since: 'checked' },
  { kind: 'residual', topOf: (token) => token.top_residual, since: 'decided' },
];
/** Of a lane that draws corrections wrongly: what it drew from, and what the right rule draws from. */
const WRONG_KINDS = [
  ...KINDS.slice(0, -1),
  { kind: 'drawn', topOf: (token) => token.top_residual, since: 'decided' },
  { kind: 'right', topOf: (token) => (token.top_residual.length ? rightResidual(token) : []), since: 'decided' },
];
/** Drawn below the pair of q and p. */
const BELOW = new Set(['residual', 'drawn', 'right']);

/** The token whose distributions belong to a token: itself, or the rejected guess that it replaces. */
export function judgedFor(token, { tokens }) {
  if (token.fate.name !== 'correction') return token;
  const rejected = tokens.filter((each) => each.fate.name === 'rejected');
  return rejected.findLast((each) => each.top_residual.length) ?? rejected.at(-1) ?? token;
}

/**
 * Give the elements that show the distributions at a token's position, as far as they are known: a key,
 * a table of bars on one scale, and what the bars mean.
 * @param {import('./decision.js').Evidence} evidence
 */
export function distributions(evidence) {
  const { token, round, lane, isGreedy, known = 'decided' } = evidence;
  if (known === 'nothing') return [note(t('law.not_yet'))];
  const judged = judgedFor(token, round);
  const isWrong = !isGreedy && drawsWrongly(lane);
  const kinds = (isWrong ? WRONG_KINDS : KINDS).filter(({ topOf, since }) => topOf(judged)?.length && isKnown(known, since));
  // What both share decides over a guess that was drawn from all of q: not at temperature 0, nor after a sibling.
  const hasBoth = ['draft', 'target'].every((kind) => kinds.some((each) => each.kind === kind));
  const isShared = !isGreedy && hasBoth && !isPicked(judged) && !takenBefore(judged, round).num;
  const facts = { token, judged, kinds, isShared };
  const parts = kinds.length ? [keyOf(facts), tableOf(facts)] : [note(t('law.none'))];
  const meaning = meaningOf(evidence, judged, isWrong);
  return meaning ? [...parts, note(meaning)] : parts;
}

function isKnown(known, since) {
  return KNOWN.indexOf(known) >= KNOWN.indexOf(since);
}

/**
 * The most probable tokens, and always the token itself and the guess that it replaces. One outside a
 * top ten has no bar there: its probability was not recorded, it is not 0.
 */
function rowsOf({ token, judged, kinds }) {
  const rows = new Map();
  const put = (id, text, kind, prob) => {
    if (!rows.has(id)) rows.set(id, { id, text, probs: {} });
    rows.get(id).probs[kind] ??= prob;
  };
  for (const { kind, topOf, own } of kinds) {
    for (const [id, text, prob] of topOf(judged)) put(id, text, kind, prob);
    for (const each of own ? [judged, token] : []) put(each.id, each.text, kind, each[own] ?? null);
  }
  const isOwn = ({ id }) => id === judged.id || id === token.id;
  const sorted = [...rows.values()].sort((a, b) => tallest(b) - tallest(a));
  return sorted.filter((row, index) => isOwn(row) || (index < NUM_ROWS && tallest(row) > 0));
}

function tallest({ probs }) {
  return Math.max(0, ...Object.values(probs));
}

function keyOf({ kinds, isShared }) {
  const names = kinds.map(({ kind }) => kind);
  if (isShared) names.splice(2, 0, 'shared');
  const entries = names.map((name) => wrap('li', '', make('i', `sv-law-${name}`), t(`law.${name}`)));
  const key = wrap('ul', 'sv-law-key', ...entries);
  key.setAttribute('aria-hidden', 'true');
  return key;
}

function tableOf(facts) {
  const rows = rowsOf(facts);
  const scale = Math.max(...rows.map(tallest)) || 1;
  const head = wrap('tr', '', make('th', '', t('law.token'), { scope: 'col' }), make('td'));
  for (const { kind } of facts.kinds) {
    const title = t(`law.${kind}`);
    head.append(make('th', '', t(`law.${kind}_column`), { scope: 'col', title }));
  }
  const body = rows.map((row) => rowElement(row, scale, facts));
  return wrap('table', 'sv-laws', wrap('thead', '', head), wrap('tbody', '', ...body));
}

function rowElement({ id, text, probs }, scale, { token, judged, kinds, isShared }) {
  const name = make('th', '', '', { scope: 'row', title: visible(text) });
  name.append(make('code', '', visible(text)));
  const bar = (kind, prob) => {
    const element = make('i', `sv-law-${kind}`);
    element.style.width = `${(100 * (prob ?? 0)) / scale}%`;
    return element;
  };
  const barsOf = (isBelow) => kinds.filter(({ kind }) => BELOW.has(kind) === isBelow).map(({ kind }) => bar(kind, probs[kind]));
  const bars = barsOf(false);
  const below = barsOf(true);
  const rest = below.length ? [wrap('div', 'sv-law-rest', ...below)] : [];
  const { draft = null, target = null } = probs;
  const shared = isShared && draft !== null && target !== null ? Math.min(draft, target) : 0;
  if (shared > LEAST_SHARED * scale) bars.push(bar('shared', shared));
  const tracks = wrap('div', 'sv-law-tracks', wrap('div', 'sv-law-pair', ...bars), ...rest);
  const cell = wrap('td', 'sv-law-bars', tracks);
  cell.setAttribute('aria-hidden', 'true');
  const numbers = kinds.map(({ kind }) => make('td', 'sv-law-share', finePercent(probs[kind])));
  const row = wrap('tr', '', name, cell, ...numbers);
  row.classList.toggle('is-chosen', id === token.id);
  row.classList.toggle('is-thrown', judged !== token && id === judged.id);
  return row;
}

/** What the bars mean for this token, as far as they are known. */
function meaningOf(evidence, judged, isWrong) {
  const { isGreedy, known = 'decided' } = evidence;
  if (judged.fate.name === 'discarded' && known === 'decided') return unjudgedNote(evidence, judged);
  if (isGreedy) {
    const first = known === 'decided' ? judged.top_target?.[0] : null;
    return first ? t('law.note_greedy', { token: visible(first[1]) }) : t('law.note_softmax');
  }
  if (!judged.fate.isGuess) return t('law.note_own');
  return isKnown(known, 'checked') ? meaningOfLaws(judged, evidence.round, isWrong) : pointNote(judged);
}

/** What both laws say of a guess that a coin decides over. */
function meaningOfLaws(judged, round, isWrong) {
  const { num: n } = takenBefore(judged, round);
  if (n) return t('law.note_sibling', { n });
  if (isPointMass(judged)) return pointNote(judged);
  if (judged.overlap === null) return null;
  return t(isWrong ? 'law.note_shared_wrong' : 'law.note_shared', { share: chance(judged.overlap, 2) });
}

function pointNote(judged) {
  if (!isPointMass(judged)) return null;
  return t(isPicked(judged) ? 'law.note_picked' : 'law.note_point');
}

function note(text) {
  return make('p', 'sv-evidence-note', text);
}

/** What a guess behind a rejected one comes to. */
function unjudgedNote(evidence, judged) {
  if (wrongStepAt(evidence, judged)?.kind === 'kept_back') return t('law.note_kept_back');
  return draftOf(judged).length ? t('law.note_discarded') : null;
}

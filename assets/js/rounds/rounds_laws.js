// Both laws at the place of the chosen token: paired bars, the shared part shaded, the residual beside.
import { make, visible } from '../core/dom.js';
import { percent } from './rounds_format.js';
import { t } from '../core/strings.js';

const NUM_ROWS = 10;

/** Draws the laws of one place as a table whose bars share one scale. */
export class Laws {
  #reader;
  #drawn = [];

  constructor(reader) {
    this.#reader = reader;
    this.element = make('section', 'sv-round-laws');
  }

  /** Draw the place of the chosen token, as far as it is known. */
  update() {
    const { round, beats, chosen, book } = this.#reader;
    const known = this.#reader.known(chosen);
    const drawn = [round, chosen, known];
    if (drawn.every((value, place) => value === this.#drawn[place])) return;
    this.#drawn = drawn;
    const token = round.tokens[chosen];
    const fate = beats.fates[chosen];
    const judged = fate === 'correction' ? (lastRejected(round, beats) ?? token) : token;
    const isTold = known === 'decided';
    const laws = lawsOf(judged, { isChecked: isTold || known === 'checked', isTold });
    const isThere = known !== 'nothing';
    const title = isThere ? t('rounds.laws_title', { token: visible(token.t) }) : t('rounds.laws');
    // At temperature 0 nothing is decided by what the laws share.
    const hasShared = !book.start.greedy && ['draft', 'target'].every((kind) => has(laws, kind));
    const body = isThere ? bodyOf(laws, { judged, token, hasShared }) : [hint('rounds.laws_not_yet')];
    this.element.replaceChildren(make('h3', '', title), ...body);
    const note = noteOf(fate, judged, isTold, book.start.greedy);
    if (isThere && note) this.element.append(make('p', 'sv-laws-note', note));
  }
}

/** The rejected guess in whose place the correction came. */
export function lastRejected(round, beats) {
  return round.tokens[beats.fates.lastIndexOf('rejected')];
}

function bodyOf(laws, facts) {
  if (!laws.length) return [hint('rounds.laws_none')];
  return [key(laws, facts.hasShared), table(rowsOf(laws, facts), laws, facts)];
}

function hint(id) {
  return make('p', 'sv-laws-note', t(id));
}

function has(laws, kind) {
  return laws.some((law) => law.kind === kind);
}

function lawsOf(judged, { isChecked, isTold }) {
  return [
    { kind: 'draft', name: t('rounds.q'), top: judged.d, own: judged.q },
    { kind: 'target', name: t('rounds.p'), top: isChecked ? judged.g : undefined, own: judged.p },
    { kind: 'residual', name: t('rounds.residual'), top: isTold ? judged.r : undefined },
  ].filter((law) => law.top);
}

// A token outside a law's top ten has no bar there: its probability was not recorded, it is not 0.
function rowsOf(laws, { judged, token }) {
  const rows = new Map();
  const put = (text, kind, share) => {
    if (!rows.has(text)) rows.set(text, { text });
    rows.get(text)[kind] ??= share;
  };
  for (const { kind, top, own } of laws) {
    for (const [text, share] of top) put(text, kind, share);
    if (own !== undefined) put(judged.t, kind, own);
  }
  const sorted = [...rows.values()].sort((a, b) => tallest(b) - tallest(a));
  const isOwn = ({ text }) => text === judged.t || text === token.t;
  return sorted.filter((row, place) => isOwn(row) || (place < NUM_ROWS && tallest(row) > 0));
}

function tallest({ draft = 0, target = 0, residual = 0 }) {
  return Math.max(draft, target, residual);
}

function key(laws, hasShared) {
  const list = make('ul', 'sv-laws-key', '', { 'aria-hidden': 'true' });
  for (const { kind, name } of laws) list.append(keyEntry(kind, name));
  if (hasShared) list.append(keyEntry('shared', t('rounds.shared')));
  return list;
}

function keyEntry(kind, name) {
  const entry = make('li', '', name);
  entry.prepend(make('i', `sv-bar-${kind}`));
  return entry;
}

function table(rows, laws, facts) {
  const scale = Math.max(...rows.map(tallest));
  const element = make('table', 'sv-laws-table');
  const head = make('tr');
  const cells = ['token', 'bars', ...laws.map((law) => law.kind)];
  for (const name of cells.filter((each) => each !== 'residual')) head.append(headCell(name));
  if (has(laws, 'residual')) head.append(headCell('residual_bars'), headCell('residual'));
  element.append(wrap('thead', head));
  const body = make('tbody');
  for (const row of rows) body.append(rowElement(row, laws, scale, facts));
  element.append(body);
  return element;
}

function headCell(name) {
  if (name === 'bars') return make('td', 'sv-laws-bars');
  if (name === 'residual_bars') return make('td', 'sv-laws-bars sv-laws-rest');
  return make('th', '', t(`rounds.column_${name}`), { scope: 'col' });
}

function rowElement(row, laws, scale, { judged, token, hasShared }) {
  const element = make('tr');
  const isGuess = row.text === judged.t;
  element.classList.toggle('is-guess', isGuess);
  element.classList.toggle('is-added', row.text === token.t && !isGuess);
  const name = make('th', '', '', { scope: 'row', title: visible(row.text) });
  name.append(make('code', '', visible(row.text)));
  const bars = make('div', 'sv-laws-pair');
  const numbers = [];
  for (const kind of ['draft', 'target'].filter((each) => has(laws, each))) {
    bars.append(bar(kind, row[kind], scale));
    numbers.push(make('td', '', written(row[kind])));
  }
  if (hasShared && row.draft !== undefined && row.target !== undefined) {
    bars.append(bar('shared', Math.min(row.draft, row.target), scale));
  }
  element.append(name, wrap('td', bars, 'sv-laws-bars'), ...numbers);
  if (has(laws, 'residual')) {
    const rest = make('div', 'sv-laws-pair is-single');
    rest.append(bar('residual', row.residual, scale));
    element.append(wrap('td', rest, 'sv-laws-bars sv-laws-rest'), make('td', '', written(row.residual)));
  }
  return element;
}

function bar(kind, share, scale) {
  const element = make('i', `sv-bar-${kind}`);
  element.style.width = `${(100 * (share ?? 0)) / scale}%`;
  return element;
}

function written(share) {
  return share === undefined ? '–' : percent(share);
}

function wrap(tag, child, className = '') {
  const element = make(tag, className);
  element.append(child);
  return element;
}

/** What the bars mean for this token. */
function noteOf(fate, judged, isTold, isGreedy) {
  if (fate === 'discarded' && isTold) return t('rounds.note_discarded');
  if (fate === 'discarded') return isGreedy ? t('rounds.note_softmax') : null;
  if (isGreedy) return isTold ? greedyNote(fate, judged) : t('rounds.note_softmax');
  if (fate === 'bonus' || fate === 'plain') return t('rounds.note_own');
  if (judged.o === undefined || judged.q === undefined) return t('rounds.note_point');
  return t('rounds.note_shared', { overlap: percent(judged.o) });
}

function greedyNote(fate, judged) {
  const first = judged.g?.[0]?.[0];
  if (first === undefined) return t('rounds.note_softmax');
  return t('rounds.note_greedy', { token: visible(first) });
}

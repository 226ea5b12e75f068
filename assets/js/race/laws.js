// The laws at one position: the most probable tokens of draft, target and residual as paired bars.
import { make, visible } from '../core/dom.js';
import { t } from '../core/strings.js';

const NUM_ROWS = 10;
const LAWS = [
  { kind: 'draft', top: 'd' },
  { kind: 'target', top: 'g' },
  { kind: 'residual', top: 'r' },
];

/** A table of bars with its key and the shared area; nothing where no law was recorded. */
export function lawTable({ token, tokens }, fates) {
  const judged = judgedFor(token, tokens, fates);
  const laws = LAWS.filter((law) => judged[law.top]);
  if (!laws.length) return [];
  const rows = merged(judged, laws);
  const guess = rowFor(rows, judged, judged === token ? token : null);
  const chosen = judged === token ? guess : rowFor(rows, token, token);
  const shown = rows.slice(0, NUM_ROWS);
  for (const row of new Set([guess, chosen])) if (row && !shown.includes(row)) shown.push(row);
  const isShared = Boolean(judged.d && judged.g);
  const table = make('table', 'sv-laws');
  const body = make('tbody');
  body.append(...shown.map((row) => rowElement(row, laws, row === chosen, row === guess)));
  table.append(headOf(laws), body);
  const parts = [make('h3', '', t('law.title')), keyOf(laws, isShared), table];
  if (judged.o !== undefined) {
    parts.push(make('p', 'sv-overlap', t('law.overlap', { share: judged.o.toFixed(2) })));
  }
  return parts;
}

/** The token whose laws belong to this one: itself, or the rejected guess that it replaces. */
function judgedFor(token, tokens, fates) {
  if (fates[tokens.indexOf(token)] !== 'correction') return token;
  const rejected = tokens.filter((_, index) => fates[index] === 'rejected');
  return rejected.findLast((each) => each.r) ?? rejected.at(-1) ?? token;
}

// A token outside a law's top ten has no bar there: its probability was not recorded, it is not 0.
function merged(judged, laws) {
  const rows = new Map();
  for (const { kind, top } of laws) {
    for (const [text, share] of judged[top]) {
      if (!rows.has(text)) rows.set(text, { text, shares: {} });
      rows.get(text).shares[kind] ??= share;
    }
  }
  const height = ({ shares }) => Math.max(shares.draft ?? 0, shares.target ?? 0, shares.residual ?? 0);
  return [...rows.values()].sort((a, b) => height(b) - height(a));
}

/** The row of a token; where it is in no top ten, one is made of the probabilities it came with. */
function rowFor(rows, { t: text, q, p }, own) {
  const found = rows.find((row) => row.text === text);
  if (found || !own) return found;
  const shares = {};
  if (q !== undefined) shares.draft = q;
  if (p !== undefined) shares.target = p;
  return { text, shares };
}

function keyOf(laws, isShared) {
  const key = make('div', 'sv-law-key', '', { 'aria-hidden': 'true' });
  const kinds = laws.map((law) => law.kind);
  if (isShared) kinds.splice(2, 0, 'shared');
  for (const kind of kinds) {
    const entry = make('span', '', t(`law.${kind}`));
    entry.prepend(make('i', `sv-law-${kind}`));
    key.append(entry);
  }
  return key;
}

function headOf(laws) {
  const head = make('thead');
  const row = make('tr');
  row.append(make('th', '', t('law.token'), { scope: 'col' }), make('td'));
  for (const { kind } of laws) {
    const label = t(`law.${kind}`);
    row.append(make('th', '', t(`law.${kind}_column`), { scope: 'col', title: label }));
  }
  head.append(row);
  return head;
}

function rowElement({ text, shares }, laws, isChosen, isGuess) {
  const row = make('tr');
  if (isChosen) row.classList.add('is-chosen');
  else if (isGuess) row.classList.add('is-thrown');
  const name = make('th', '', '', { scope: 'row' });
  name.append(make('code', '', visible(text), { title: visible(text) }));
  const bars = make('td', 'sv-law-bars', '', { 'aria-hidden': 'true' });
  const tracks = make('div', 'sv-law-tracks');
  tracks.style.setProperty('--tracks', laws.length);
  laws.forEach(({ kind }, line) => {
    if (shares[kind] !== undefined) tracks.append(bar(kind, shares[kind], line));
  });
  if (shares.draft !== undefined && shares.target !== undefined) {
    tracks.append(bar('shared', Math.min(shares.draft, shares.target), 0));
  }
  bars.append(tracks);
  row.append(name, bars);
  for (const { kind } of laws) row.append(make('td', 'sv-law-share', percent(shares[kind])));
  return row;
}

function bar(kind, share, line) {
  const element = make('i', `sv-law-${kind}`);
  element.style.width = `${100 * share}%`;
  element.style.setProperty('--line', line);
  return element;
}

function percent(share) {
  if (share === undefined) return '';
  if (share > 0 && share < 0.0005) return '<0.1';
  return (100 * share).toFixed(share < 0.0995 ? 1 : 0);
}

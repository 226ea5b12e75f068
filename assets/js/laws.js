// The laws at one position: the most probable tokens of draft, target and residual as bars.
import { make, visible } from './dom.js';

const NUM_ROWS = 8;

/** Rows of bars for a judged position, with a small key; empty where nothing was recorded. */
export function probabilityRows(token, chosen) {
  const laws = [
    { name: 'draft q', kind: 'draft', top: token.d },
    { name: 'target p', kind: 'target', top: token.g },
    { name: 'residual', kind: 'residual', top: token.r },
  ].filter((law) => law.top);
  if (!laws.length) return [];
  const key = make('div', 'sv-law-key');
  for (const law of laws) {
    const entry = make('span', '', law.name);
    entry.prepend(make('i', `sv-law-${law.kind}`));
    key.append(entry);
  }
  const table = make('div', 'sv-laws');
  for (const row of merged(laws)) table.append(rowElement(row, laws, chosen));
  return [make('h3', '', 'Most probable here, in %'), key, table];
}

// A token outside a law's top ten has no bar there: its probability was not recorded, it is not 0.
function merged(laws) {
  const rows = new Map();
  for (const law of laws) {
    for (const [text, share] of law.top) {
      if (!rows.has(text)) rows.set(text, { text, shares: {} });
      rows.get(text).shares[law.kind] ??= share;
    }
  }
  const height = (row) => Math.max(...Object.values(row.shares));
  return [...rows.values()].sort((a, b) => height(b) - height(a)).slice(0, NUM_ROWS);
}

function rowElement(row, laws, chosen) {
  const element = make('div', 'sv-law-row');
  if (row.text === chosen) element.classList.add('is-chosen');
  element.append(make('code', '', visible(row.text), { title: visible(row.text) }));
  const bars = make('div', 'sv-law-bars');
  for (const law of laws) {
    const share = row.shares[law.kind];
    if (share === undefined) continue;
    const line = make('div', 'sv-law-line');
    const bar = make('i', `sv-law-${law.kind}`);
    bar.style.width = `${100 * share}%`;
    const text = `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}`;
    const track = make('div', 'sv-law-track');
    track.append(bar);
    line.append(track, make('span', '', text));
    bars.append(line);
  }
  element.append(bars);
  return element;
}

// Texts at temperature 0 as rows of small squares, one a token: the same, parted at a near-tie, or different.
import { keyOf } from '../model/names.js';
import { make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Grows by a row with each text that was compared. */
export class GreedyGrid {
  #list = make('ol', 'sv-grid-rows');
  count = 0;

  constructor() {
    const keys = ['identical', 'near_tie', 'divergent', 'after'].map((name) =>
      wrap('li', '', make('i', `sv-square is-${name}`, '', { 'aria-hidden': 'true' }), make('span', '', t(`proof.grid_${name}`))),
    );
    const about = make('p', 'sv-proof-note', t('proof.grid_about'));
    const title = make('h3', '', t('proof.grid'));
    this.element = wrap('section', 'sv-hist-part sv-grid', title, about, wrap('ul', 'sv-hist-legend', ...keys), this.#list);
    this.clear();
  }

  clear() {
    this.count = 0;
    this.#list.replaceChildren();
    this.element.hidden = true;
  }

  /** Add a text, as the server compared it. */
  add(item) {
    this.count += 1;
    this.#list.append(row(item));
  }
}

function row({ prompt, verdict, tokens, tokens_alone: alone }) {
  const { agreement, first_difference: first, margin } = verdict;
  const key = keyOf(agreement);
  const squares = make('span', 'sv-squares', '', { 'aria-hidden': 'true' });
  tokens.forEach((text, index) => squares.append(make('i', `sv-square is-${fateOf(index, first, key)}`, '', { title: text })));
  const values = { token: (first ?? 0) + 1, margin: decimals(margin, 4) };
  const state = make('span', `sv-grid-state is-${key}`, t(`proof.state_${key}`, values));
  const summary = wrap('summary', '', make('span', 'sv-grid-name', t(`prompt.${prompt}`)), squares, state);
  const texts = [line('proof.by_lane', tokens, first)];
  if (first !== null) texts.push(line('proof.by_target', alone, first));
  return wrap('li', '', wrap('details', 'sv-grid-row', summary, ...texts));
}

/** Behind the first difference nothing can be compared. */
function fateOf(index, first, key) {
  if (first === null || index < first) return 'identical';
  return index === first ? key : 'after';
}

/** A whole text; where it first differs is marked. */
function line(id, tokens, first) {
  const text = make('span', 'sv-grid-text');
  const cut = first ?? tokens.length;
  text.append(tokens.slice(0, cut).join(''));
  if (cut < tokens.length) text.append(make('mark', '', tokens[cut]), tokens.slice(cut + 1).join(''));
  const label = make('b');
  setText(label, t(id));
  return wrap('p', 'sv-grid-line', label, text);
}

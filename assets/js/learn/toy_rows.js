// The three words of a toy with p and q to drag, and bars with a line at p.
import { make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

export const WORDS = [0, 1, 2];

/**
 * Rows for the words of a toy, kept up with it; `below(word)` gives what a lab puts into each.
 * @param {import('./toy.js').Toy} toy
 * @param {((word: number) => Element[]) | null} below
 */
export function toyRows(toy, below = null) {
  const rows = WORDS.map((word) => new Row(toy, word, below?.(word) ?? []));
  toy.subscribe((p, q) => rows.forEach((row, word) => row.show({ p: p[word], q: q[word] })));
  return wrap('div', 'sv-toy', ...rows.map((row) => row.element));
}

/** One word: its two bars to drag, and below them what a lab makes of it. */
class Row {
  #toy;
  #inputs = {};
  #values = {};

  constructor(toy, word, below) {
    this.#toy = toy;
    this.element = make('div', 'sv-toy-row', '', { role: 'group', 'aria-label': wordName(word) });
    this.element.append(
      make('b', 'sv-toy-word', wordName(word)),
      wrap('div', 'sv-toy-bars', this.#bar('p', 'target', word), this.#bar('q', 'draft', word)),
      ...below,
    );
  }

  #bar(which, who, word) {
    const name = t(`learn.accept_${who}_of`, { word: wordName(word) });
    const span = { type: 'range', min: 0, max: 100, step: 1, 'aria-label': name };
    const input = make('input', '', '', span);
    input.addEventListener('input', () => this.#toy.set(which, word, Number(input.value)));
    const value = make('span', 'sv-toy-value', '', { 'aria-hidden': 'true' });
    this.#inputs[which] = input;
    this.#values[which] = value;
    return wrap('label', `sv-toy-bar is-${who}`, make('span', '', t(`learn.accept_${who}`)), input, value);
  }

  /** `shares` are p and q of the word. */
  show(shares) {
    for (const [which, share] of Object.entries(shares)) {
      const [input, text] = [this.#inputs[which], decimals(share, 2)];
      input.value = Math.round(100 * share);
      input.style.setProperty('--sv-share', share);
      input.setAttribute('aria-valuetext', text);
      setText(this.#values[which], text);
    }
  }
}

/** The name of one of the words. */
export function wordName(word) {
  return t(`learn.word_${word}`);
}

/** A part of a bar. */
export function part(name, share) {
  const piece = make('i', name);
  piece.style.width = `${100 * share}%`;
  return piece;
}

/** The line at p across a bar. */
export function mark(share) {
  const line = make('i', 'sv-law-mark');
  line.style.left = `${100 * share}%`;
  return line;
}

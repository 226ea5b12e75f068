// How one key figure is computed: what it means, its formula, and the formula with this race's numbers.
import { make, setText } from '../core/dom.js';
import { t, tell } from '../core/strings.js';

/** Figures that are easily taken for another one: their texts `figure.ID_unlike` say how they differ. */
const UNLIKE = new Set(['speedup', 'alpha', 'rate', 'tau']);

/** A box below the tiles of a lane; one figure is explained at a time, live while the race runs. */
export class FigureWhy {
  #title = make('h3');
  #meaning = make('p');
  #symbols = make('p', 'sv-why-formula');
  #numbers = make('p', 'sv-why-formula sv-why-numbers');
  #unlike = make('p');
  figure = null;

  constructor(id, close) {
    this.element = make('div', 'sv-why', '', { id, hidden: '' });
    const label = t('figures.close');
    const button = make('button', 'sv-close', '×', { type: 'button', 'aria-label': label, title: label });
    button.addEventListener('click', close);
    const words = make('div', 'sv-why-words');
    words.append(this.#title, this.#meaning, this.#unlike);
    const sums = make('div', 'sv-why-sums');
    sums.append(this.#symbols, this.#numbers);
    this.element.append(words, sums, button);
  }

  /** Explain a figure, with the numbers of a lane where a race has any. */
  open(figure, all) {
    this.figure = figure;
    this.element.hidden = false;
    const isFormula = figure !== 'lossless';
    setText(this.#title, t(`figure.${figure}`));
    setText(this.#meaning, t(`figure.${figure}_meaning`));
    setText(this.#symbols, isFormula ? t(`figure.${figure}_symbols`) : '');
    setText(this.#unlike, UNLIKE.has(figure) ? t(`figure.${figure}_unlike`) : '');
    if (all) this.show(all);
    else setText(this.#numbers, t('figures.no_numbers'));
  }

  /** Put the newest numbers in. */
  show(all) {
    if (this.figure) setText(this.#numbers, worked(this.figure, all));
  }

  /** Explain nothing. */
  close() {
    this.figure = null;
    this.element.hidden = true;
  }
}

function worked(figure, all) {
  const [value, ...params] = all[figure];
  if (figure === 'lossless') return tell(params[1]);
  if (value === '–') return t('figures.no_numbers');
  const formula = t(`figure.${figure}_formula`, { ...params, value });
  return t('figures.with_numbers', { formula });
}

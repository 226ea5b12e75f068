// How one key figure is computed: what it means, its formula, and the formula with this race's numbers.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { FIGURES } from './figure_table.js';
import { t } from '../page/strings.js';

/** A box below the tiles of a lane; one figure is explained at a time, live while the race runs. */
export class FigureWhy {
  #title = make('h3');
  #meaning = make('p');
  #symbols = make('p', 'sv-why-formula');
  #numbers = make('p', 'sv-why-formula sv-why-numbers');
  #unlike = make('p');
  figure = null;

  constructor(id, close) {
    const label = t('figures.close');
    const button = makeButton('×', close, 'sv-close', { 'aria-label': label, title: label });
    const words = wrap('div', 'sv-why-words', this.#title, this.#meaning, this.#unlike);
    const sums = wrap('div', 'sv-why-sums', this.#symbols, this.#numbers);
    this.element = wrap('div', 'sv-why', words, sums, button);
    this.element.id = id;
    this.element.hidden = true;
  }

  /** Explain a figure; `show` puts a race's numbers in. */
  open(figure) {
    this.figure = figure;
    this.element.hidden = false;
    setText(this.#title, t(`figure.${figure}`));
    setText(this.#meaning, t(`figure.${figure}_meaning`));
    setText(this.#symbols, figure === 'lossless' ? '' : t(`figure.${figure}_symbols`));
    setText(this.#unlike, FIGURES[figure].isUnlike ? t(`figure.${figure}_unlike`) : '');
    setText(this.#numbers, t('figures.no_numbers'));
  }

  /** Put the newest numbers in. */
  show(race, lane) {
    if (!this.figure) return;
    const formula = FIGURES[this.figure].formula(race, lane);
    const isFormula = formula && this.figure !== 'lossless';
    const told = isFormula ? t('figures.with_numbers', { formula }) : formula;
    setText(this.#numbers, told || t('figures.no_numbers'));
  }

  /** Explain nothing. */
  close() {
    this.figure = null;
    this.element.hidden = true;
  }
}

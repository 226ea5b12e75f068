// The key figures of each lane that drafts, with the counts behind them and how they are computed.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { FIGURES } from './figure_table.js';
import { FigureNotes } from './figure_notes.js';
import { isRight, laneName, waitingLanes } from '../model/names.js';
import { MISSING } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Draw one row of tiles a lane, and keep them up with the race. */
export function mountFigures(container, data, { name, playback }) {
  let rows = [];
  let isBuilt = false;

  const build = (lanes) => {
    const opened = rows.map((row) => row.opened);
    rows = lanes.map((lane, index) => {
      const title = lanes.length > 1 || lane.isBroken ? lane.name : null;
      const row = new Row(`sv-why-${name}-${index}`, title, opened[index]);
      row.element.classList.toggle('is-broken', lane.isBroken ?? false);
      return row;
    });
    container.replaceChildren(...rows.map((row) => row.element));
    container.classList.toggle('has-many', rows.length > 1);
  };
  const waiting = () => waitingLanes(name).filter((lane) => !lane.isBaseline);
  playback.follow((race, isNew) => {
    if (isNew) isBuilt = false;
    const isKnown = race.lanes.length > 0;
    if (isNew || (isKnown && !isBuilt)) {
      build(isKnown ? race.drafting.map((lane) => ({ name: laneName(lane), isBroken: !isRight(lane.spec) })) : waiting());
    }
    isBuilt = isKnown;
    if (race.hasFigures) race.drafting.forEach((lane, index) => rows[index].show(race, lane));
  });
}

/** The tiles of one lane, beside its name where there are several, and one explanation below them. */
class Row {
  #tiles = new Map();
  #why;
  #notes = new FigureNotes();
  #shown = null;

  constructor(id, name, opened) {
    const label = name ? t('figures.of_lane', { lane: name }) : t('figures.all');
    this.element = make('section', 'sv-figure-row', '', { 'aria-label': label });
    if (name) this.element.append(make('h2', '', name, { title: name }));
    this.#why = new FigureWhy(id, () => this.#close());
    const tiles = Object.keys(FIGURES).map((figure) => this.#tile(figure, id));
    this.element.append(wrap('dl', 'sv-figures', ...tiles), this.#notes.element, this.#why.element);
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.opened) this.#close();
    });
    if (opened) this.#open(opened);
  }

  /** Id of the figure that is explained, or null. */
  get opened() {
    return this.#why.figure;
  }

  /** Show how a lane stands. */
  show(race, lane) {
    // Figures come more seldom than rounds.
    if (this.#shown?.metrics === lane.metrics && this.#shown.isOver === race.isOver) return;
    this.#shown = { race, lane, metrics: lane.metrics, isOver: race.isOver };
    for (const [id, { value, range, detail }] of this.#tiles) {
      setText(value, FIGURES[id].value(race, lane));
      setText(range, FIGURES[id].range?.(race, lane) ?? '');
      setText(detail, FIGURES[id].detail(race, lane));
    }
    this.#tiles.get('speedup').tile.classList.toggle('is-slower', lane.isSlower);
    this.#notes.show(lane, race.isOver);
    this.#why.show(race, lane);
  }

  #tile(id, panel) {
    const ask = t('figures.ask', { figure: t(`figure.${id}`) });
    const button = make('button', 'sv-why-button', '=', {
      type: 'button',
      title: ask,
      'aria-label': ask,
      'aria-expanded': 'false',
      'aria-controls': panel,
    });
    button.addEventListener('click', () => (this.opened === id ? this.#close() : this.#open(id)));
    const label = make('dt', '', t(`figure.${id}`));
    label.append(button);
    const value = make('span', '', MISSING);
    const range = make('small', 'sv-range');
    const detail = make('dd', 'sv-detail', '\u00a0');
    const tile = wrap('div', 'sv-figure', label, wrap('dd', 'sv-value', value, range), detail);
    tile.dataset.figure = id;
    this.#tiles.set(id, { tile, value, range, detail, button });
    return tile;
  }

  #open(id) {
    this.#why.open(id);
    if (this.#shown) this.#why.show(this.#shown.race, this.#shown.lane);
    this.#mark();
  }

  #close() {
    const { button } = this.#tiles.get(this.opened);
    if (this.element.contains(document.activeElement)) button.focus();
    this.#why.close();
    this.#mark();
  }

  #mark() {
    for (const [id, { button }] of this.#tiles) {
      button.setAttribute('aria-expanded', String(id === this.opened));
    }
  }
}

/** A box below the tiles of a lane; one figure is explained at a time, live while the race runs. */
class FigureWhy {
  #title = make('h3');
  #meaning = make('p');
  #symbols = make('p', 'sv-why-formula');
  #numbers = make('p', 'sv-why-formula sv-why-numbers');
  #aside = make('p', 'sv-why-formula');
  #unlike = make('p');
  figure = null;

  constructor(id, close) {
    const label = t('figures.close');
    const button = makeButton('×', close, 'sv-close', { 'aria-label': label, title: label });
    const words = wrap('div', 'sv-why-words', this.#title, this.#meaning, this.#unlike);
    const sums = wrap('div', 'sv-why-sums', this.#symbols, this.#numbers, this.#aside);
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
    setText(this.#aside, '');
  }

  /** Put the newest numbers in. */
  show(race, lane) {
    if (!this.figure) return;
    const formula = FIGURES[this.figure].formula(race, lane);
    const isFormula = formula && this.figure !== 'lossless';
    const told = isFormula ? t('figures.with_numbers', { formula }) : formula;
    setText(this.#numbers, told || t('figures.no_numbers'));
    setText(this.#aside, FIGURES[this.figure].aside?.(race, lane) ?? '');
  }

  /** Explain nothing. */
  close() {
    this.figure = null;
    this.element.hidden = true;
  }
}

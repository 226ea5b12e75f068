// The key figures of each lane that guesses: texts made by the server, with the counts behind them.
import { make, setText } from '../core/dom.js';
import { FigureWhy } from './figure_why.js';
import { t, tell } from '../core/strings.js';

/** Draw one row of tiles a lane, and keep them up with the race. */
export function mountFigures(place, data, { store, name: scene }) {
  let rows = [];

  const build = (lanes) => {
    const opened = rows.map((row) => row.opened);
    const guessing = lanes.filter((lane) => !lane.plain);
    rows = guessing.map((lane, index) => {
      const name = guessing.length > 1 ? tell(lane.name) : null;
      return new Row(`sv-why-${scene}-${index}`, data.figures, name, opened[index]);
    });
    place.replaceChildren(...rows.map((row) => row.element));
    place.classList.toggle('has-many', rows.length > 1);
  };
  build(data.lanes);
  store.subscribe((items) => {
    for (const item of items) {
      if (item.k === 'reset') build(data.lanes);
      else if (item.k === 'start') build(item.lanes);
    }
    const last = items.findLast((item) => item.k === 'figures');
    last?.lanes.slice(1).forEach((figures, index) => rows[index]?.show(figures));
  });
}

/** The tiles of one lane, beside its name where there are several, and one explanation below them. */
class Row {
  #tiles = new Map();
  #why;
  #latest = null;

  constructor(id, figures, name, opened) {
    const label = name ? t('figures.of_lane', { lane: name }) : t('figures.all');
    this.element = make('section', 'sv-figure-row', '', { 'aria-label': label });
    if (name) this.element.append(make('h2', '', name, { title: name }));
    this.#why = new FigureWhy(id, () => this.#close());
    const list = make('dl', 'sv-figures');
    list.append(...figures.map((figure) => this.#tile(figure, id)));
    this.element.append(list, this.#why.element);
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
  show(all) {
    this.#latest = all;
    for (const [id, { value, detail }] of this.#tiles) {
      const [shown, ...params] = all[id];
      setText(value, tell(shown));
      setText(detail, detailOf(id, params, all.is_slower));
    }
    this.#tiles.get('speedup').tile.classList.toggle('is-slower', all.is_slower);
    this.#why.show(all);
  }

  #tile(id, panel) {
    const tile = make('div', 'sv-figure');
    tile.dataset.figure = id;
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
    const value = make('dd', 'sv-value', '–');
    const detail = make('dd', 'sv-detail', '\u00a0');
    tile.append(label, value, detail);
    this.#tiles.set(id, { tile, value, detail, button });
    return tile;
  }

  #open(id) {
    this.#why.open(id, this.#latest);
    this.#mark();
  }

  #close() {
    const button = this.#tiles.get(this.opened).button;
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

function detailOf(id, params, isSlower) {
  if (id === 'lossless') return tell(params[0]);
  if (id === 'speedup' && isSlower) return t('figure.speedup_slower', params);
  return t(`figure.${id}_detail`, params);
}

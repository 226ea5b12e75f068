// The key figures of each lane that guesses: texts made by the server, with the counts behind them.
import { make, setText } from './dom.js';

/** Draw one row of tiles a lane, and keep them up with the race. */
export function mountFigures(place, data, store) {
  let rows = [];

  const build = (lanes) => {
    const guessing = lanes.filter((lane) => !lane.plain);
    rows = guessing.map((lane) => new Row(data.figures, guessing.length > 1 ? lane.name : null));
    place.replaceChildren(...rows.map((row) => row.element));
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

/** The tiles of one lane, under its name where there are several. */
class Row {
  #tiles = new Map();

  constructor(figures, name) {
    this.element = make('section', 'sv-figure-row');
    if (name) this.element.append(make('h2', '', name));
    const list = make('dl', 'sv-figures');
    for (const figure of figures) {
      const tile = make('div', 'sv-figure', '', { title: figure.meaning });
      tile.dataset.figure = figure.id;
      const value = make('dd', 'sv-value', '–');
      const detail = make('dd', 'sv-detail', '\u00a0');
      tile.append(make('dt', '', figure.label), value, detail);
      list.append(tile);
      this.#tiles.set(figure.id, { tile, value, detail });
    }
    this.element.append(list);
  }

  show(all) {
    for (const [id, { value, detail }] of this.#tiles) {
      setText(value, all[id].value);
      setText(detail, all[id].detail);
    }
    this.#tiles.get('speedup').tile.classList.toggle('is-slower', all.is_slower);
  }
}

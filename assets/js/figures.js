// The key figures: texts made by the server, each with the counts behind it.
import { make, setText } from './dom.js';

/** Draw one tile a figure. */
export function mountFigures(place, figures, store) {
  const tiles = new Map();
  const list = make('dl', 'sv-figures');
  for (const figure of figures) {
    const tile = make('div', 'sv-figure', '', { title: figure.meaning });
    tile.dataset.figure = figure.id;
    const value = make('dd', 'sv-value', '–');
    const detail = make('dd', 'sv-detail', '\u00a0');
    tile.append(make('dt', '', figure.label), value, detail);
    list.append(tile);
    tiles.set(figure.id, { tile, value, detail });
  }
  place.append(list);

  const show = (all) => {
    for (const [id, { value, detail }] of tiles) {
      setText(value, all?.[id]?.value ?? '–');
      setText(detail, all?.[id]?.detail ?? '\u00a0');
    }
    const { tile, detail } = tiles.get('speedup');
    tile.classList.toggle('is-slower', Boolean(all?.is_slower));
    if (all?.is_slower) setText(detail, 'slower than the target alone');
  };
  store.subscribe((items) => {
    if (items.some((item) => item.k === 'reset')) show(null);
    const last = items.findLast((item) => item.k === 'figures');
    if (last?.figures) show(last.figures);
  });
}

// The stage: legend, one lane beside the other, and the card of the token that is pointed at.
import { Card } from './card.js';
import { make } from './dom.js';
import { Lane } from './lane.js';

/** Draw the stage and keep it up with the race. */
export function mountStage(place, data, store, scene) {
  const lanesPlace = make('div', 'sv-lanes');
  const card = new Card(data.outcomes);
  const grid = make('div', 'sv-stage');
  grid.append(lanesPlace, card.element);
  place.append(legend(data.outcomes, place), grid);
  let lanes = [];
  let hasStarted = false;

  const build = (start) => {
    lanesPlace.replaceChildren();
    hasStarted = start !== null;
    const specs = start?.lanes ?? data.lanes;
    lanes = specs.map(
      (spec, index) => new Lane(`${scene}-${index}`, spec, start, data.outcomes, card),
    );
    lanesPlace.dataset.lanes = specs.length;
    lanesPlace.append(...lanes.map((lane) => lane.element));
  };
  const take = (item) => {
    if (item.k === 'reset') {
      card.release();
      build(null);
    } else if (item.k === 'start') build(item);
    else if (item.k === 'round') lanes[item.lane].addRound(item);
    else if (item.k === 'end') lanes[item.lane].end(item.why);
    else if (item.k === 'figures') {
      item.lanes.forEach((figures, index) => lanes[index].showFigures(figures));
    } else if (item.k === 'status' && item.state === 'stopped' && hasStarted) {
      lanes.forEach((lane) => lane.stop());
    }
  };
  build(null);
  store.subscribe((items) => {
    items.forEach(take);
    lanes.forEach((lane) => lane.flush());
  });
}

function legend(outcomes, place) {
  const row = make('div', 'sv-legend');
  const list = make('ul', '', '', { 'aria-label': 'What the marks mean' });
  for (const outcome of outcomes) {
    const item = make('li', '', '', { title: outcome.meaning });
    const sample = make('span', `sv-tok sv-${outcome.css_class}`, outcome.label);
    sample.dataset.mark = outcome.mark;
    item.append(sample);
    list.append(item);
  }
  const label = make('label', 'sv-switch');
  const box = make('input', 'sv-show-rejected', '', { type: 'checkbox' });
  box.checked = true;
  box.addEventListener('change', () => place.classList.toggle('hides-rejected', !box.checked));
  label.append(box, document.createTextNode('show rejected'));
  row.append(list, label);
  return row;
}

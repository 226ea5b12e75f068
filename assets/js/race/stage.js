// The stage: legend, one lane beside the other, and the card of the token that is pointed at.
import { Card } from './card.js';
import { make } from '../core/dom.js';
import { Lane } from './lane.js';
import { t } from '../core/strings.js';
import { showRound } from '../rounds/rounds.js';

const SAMPLE_ROUND = 3;

/** Draw the stage and keep it up with the race. */
export function mountStage(place, data, { store, name: scene }) {
  const lanesPlace = make('div', 'sv-lanes');
  let lanes = [];
  const card = new Card(data.outcomes, ({ element, round }) => {
    showRound(scene, lanes.findIndex((lane) => lane.element.contains(element)), round);
  });
  const grid = make('div', 'sv-stage');
  grid.append(lanesPlace, card.element);
  const reflow = () => lanes.forEach((lane) => lane.reflow());
  place.append(legend(data.outcomes, place, reflow), grid);
  let hasStarted = false;

  const build = (start) => {
    hasStarted = start !== null;
    const specs = start?.lanes ?? data.lanes;
    lanes = specs.map(
      (spec, index) => new Lane(`${scene}-${index}`, spec, start, data.outcomes, card),
    );
    grid.dataset.lanes = specs.length;
    lanesPlace.replaceChildren(...lanes.map((lane) => lane.element));
  };
  const take = (item) => {
    if (item.k === 'reset') {
      card.clear();
      build(null);
    } else if (item.k === 'start') build(item);
    else if (item.k === 'round') lanes[item.lane].addRound(item);
    else if (item.k === 'end') lanes[item.lane].end(item.why, item.whole);
    else if (item.k === 'status' && item.state === 'stopped' && hasStarted) {
      lanes.forEach((lane) => lane.stop());
    }
  };
  build(null);
  store.subscribe((items) => {
    items.forEach(take);
    const last = items.findLast((item) => item.k === 'figures');
    last?.lanes.forEach((figures, index) => lanes[index]?.showFigures(figures));
    // All lanes are written before one is scrolled: the browser then lays the page out once.
    const grown = lanes.filter((lane) => lane.flush());
    grown.forEach((lane) => lane.follow());
  });
}

function legend(outcomes, place, reflow) {
  const row = make('div', 'sv-legend');
  const list = make('ul', '', '', { 'aria-label': t('stage.legend') });
  for (const outcome of outcomes) {
    const item = make('li', '', '', { title: t(`fate.${outcome.name}_meaning`) });
    const sample = make('span', `sv-tok sv-${outcome.name}`, t(`fate.${outcome.name}`));
    sample.dataset.mark = outcome.mark;
    item.append(sample);
    list.append(item);
  }
  const round = make('span', 'sv-round');
  round.dataset.round = SAMPLE_ROUND;
  const rounds = make('li');
  rounds.append(round, make('span', 'sv-legend-words', t('stage.round_number', { round: SAMPLE_ROUND })));
  list.append(rounds);
  row.append(list, toggle(place, reflow), make('p', 'sv-touch-hint', t('stage.touch_hint')));
  return row;
}

function toggle(place, reflow) {
  const label = make('label', 'sv-switch');
  const box = make('input', 'sv-show-rejected', '', { type: 'checkbox' });
  box.checked = true;
  box.addEventListener('change', () => {
    place.classList.toggle('hides-rejected', !box.checked);
    reflow();
  });
  label.append(box, document.createTextNode(t('stage.show_thrown')));
  return label;
}

// The stage: legend, one lane beside the other, and the card of the token that is pointed at.
import { Card } from './card.js';
import { make, wrap } from '../page/dom.js';
import { LaneView } from './lane.js';
import { FATES } from '../model/fates.js';
import { flippedOf } from '../model/coins.js';
import { aboutLane, briefName, coinValues, isRight, laneName, waitingLanes } from '../model/names.js';
import { showRound, standAt } from '../rounds/rounds.js';
import { t } from '../page/strings.js';
import { onChosenToken, roundMark } from './token.js';

const SAMPLE_ROUND = 3;

/**
 * Draw the stage and keep it up with the race; `charts` stand beside the lanes until a token is pointed at,
 * and `makeFlip(entry)` makes what flips its coin, or null.
 */
export function mountStage(container, panel, charts = [], makeFlip = () => null) {
  const { name, playback } = panel;
  const card = new Card((entry) => showRound(panel, entry), makeFlip);
  // Whoever opens Round by round next wants to see the round of the token that was chosen.
  onChosenToken((entry, race) => race === playback.race && !entry.lane.isBaseline && standAt(panel, entry));
  const row = make('div', 'sv-lanes');
  const beside = wrap('div', 'sv-beside', ...charts, card.element);
  const grid = wrap('div', 'sv-stage', row, beside);
  let views = [];
  container.append(legend(container, () => views.forEach((view) => view.reflow())), grid);

  const build = (race) => {
    views = race.lanes.length
      ? race.lanes.map((lane) => new LaneView(`${name}-${lane.index}`, describe(lane), card, race, lane))
      : waitingLanes(name).map((about, index) => new LaneView(`${name}-${index}`, about, card));
    const scene = container.closest('.sv-scene');
    for (const each of [grid, scene]) each?.setAttribute('data-lanes', views.length);
    row.replaceChildren(...views.map((view) => view.element));
  };
  let isBuilt = false;
  playback.follow((race, isNew) => {
    if (isNew) {
      card.clear();
      isBuilt = false;
    }
    if (isNew || (!isBuilt && race.lanes.length)) build(race);
    isBuilt = race.lanes.length > 0;
    if (!isBuilt) return;
    // All lanes are written before one is scrolled: the browser then lays the page out once.
    const grown = views.filter((view) => view.draw());
    for (const view of grown) view.settle();
  });
}

function describe(lane) {
  const name = laneName(lane);
  const coins = flippedOf(lane.spec);
  const fork = isRight(lane.spec) ? 'lane.fork' : 'lane.fork_wrong';
  const note = coins.length ? t(fork, coinValues(coins)) : '';
  return { isBaseline: lane.isBaseline, isBroken: !isRight(lane.spec), note, name, about: aboutLane(lane.spec, briefName) };
}

function legend(container, reflow) {
  const list = make('ul', '', '', { 'aria-label': t('stage.legend') });
  for (const { name, mark } of Object.values(FATES)) {
    const sample = make('span', `sv-tok sv-${name}`, t(`fate.${name}`));
    sample.dataset.mark = mark;
    const item = wrap('li', '', sample);
    item.title = t(`fate.${name}_meaning`);
    list.append(item);
  }
  const words = make('span', 'sv-legend-words', t('stage.round_number', { round: SAMPLE_ROUND }));
  list.append(wrap('li', 'sv-legend-round', roundMark(SAMPLE_ROUND), words));
  const hint = make('p', 'sv-touch-hint', t('stage.touch_hint'));
  return wrap('div', 'sv-legend', list, rejectedSwitch(container, reflow), hint);
}

function rejectedSwitch(container, reflow) {
  const box = make('input', 'sv-show-rejected', '', { type: 'checkbox' });
  box.checked = true;
  box.addEventListener('change', () => {
    container.classList.toggle('hides-rejected', !box.checked);
    reflow();
  });
  return wrap('label', 'sv-switch', box, document.createTextNode(t('stage.show_thrown')));
}

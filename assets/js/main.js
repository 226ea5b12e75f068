// The page's one entry: a store and a pacer for each scene, and a place for every part of the page.
import { connect } from './core/bus.js';
import { mountCharts } from './race/charts.js';
import { mountClock } from './race/clock.js';
import { mountCoach } from './learn/coach.js';
import { mountExamples } from './controls/examples.js';
import { mountFigures } from './race/figures.js';
import { mountFitted } from './compare/fitted.js';
import { mountHeader } from './core/header.js';
import { mountLanes } from './controls/lane_editor.js';
import { mountLearn } from './learn/learn.js';
import { Pacer } from './core/pacer.js';
import { mountPredict } from './race/predict.js';
import { mountRounds } from './rounds/rounds.js';
import { mountPreset } from './controls/settings.js';
import { mountStage } from './race/stage.js';
import { mountStatus } from './race/status.js';
import { Store } from './core/store.js';
import { loadStrings } from './core/strings.js';
import { nameTabs } from './core/tabs.js';
import { mountWelcome } from './race/welcome.js';

await loadStrings();
nameTabs();

/** @typedef {{ name: string, store: Store, pacer: Pacer }} Scene a place where races run */
const scenes = Object.fromEntries(
  ['race', 'compare'].map((name) => {
    const store = new Store();
    return [name, { name, store, pacer: new Pacer(name, store) }];
  }),
);

/** Parts of the whole page: `mount(place, data, scenes)`. */
const parts = {
  header: mountHeader,
  welcome: mountWelcome,
  rounds: mountRounds,
  learn: mountLearn,
  coach: mountCoach,
};
/** Parts of one scene: `mount(place, data, scene)`. */
const views = {
  status: mountStatus,
  figures: mountFigures,
  stage: mountStage,
  clock: mountClock,
  charts: mountCharts,
  predict: mountPredict,
};
/** Parts in which something is chosen: `mount(place, data, choose)`. */
const choices = {
  examples: mountExamples,
  fitted: mountFitted,
  lanes: mountLanes,
  preset: mountPreset,
};

export { noteSetting } from './controls/settings.js';

/** Draw a part that belongs to the whole page. */
export function mountPart(name, element, data) {
  parts[name](element.querySelector('.sv-view'), data, scenes);
}

/** Draw a part that follows the races of one scene. */
export function mountInScene(name, scene, element, data) {
  views[name](element.querySelector('.sv-view'), data, scenes[scene]);
}

/** Draw a part in which something is chosen; what is chosen becomes the component's value. */
export function mountChoice(name, element, props, trigger, data) {
  choices[name](element.querySelector('.sv-view'), data, (value) => {
    props.value = value;
    trigger('change');
  });
}

/** Let packets in. */
export function connectBus(props, server, watch) {
  connect(scenes, props, server, watch);
}

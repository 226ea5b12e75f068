// The page's one entry: a place for every part of the page, and the way in for packets.
import { liveCharts } from './race/live_charts.js';
import { makeFlip } from './race/flip_coin.js';
import { makeLiveButton } from './race/race_live.js';
import { mountCharts } from './race/charts.js';
import { mountClock } from './race/clock.js';
import { mountCompare } from './compare/frame.js';
import { mountCoach } from './learn/coach.js';
import { mountExamples } from './controls/examples.js';
import { mountFigures } from './race/figures.js';
import { mountFitted } from './compare/fitted.js';
import { mountHub } from './controls/hub.js';
import { mountHeader } from './page/header.js';
import { mountLanes } from './controls/lane_editor.js';
import { mountLearn } from './learn/learn.js';
import { mountLossless } from './lossless/lossless.js';
import { mountLimits } from './controls/limits.js';
import { mountPrompt } from './controls/prompt_field.js';
import { mountPredict } from './race/predict.js';
import { mountRounds } from './rounds/rounds.js';
import { mountSettings } from './controls/settings.js';
import { mountSpeed } from './race/speed.js';
import { mountSweep } from './sweep/sweep.js';
import { mountStage } from './race/stage.js';
import { mountStatus } from './race/status.js';
import { mountWelcome } from './race/welcome.js';
import { noteDrawn } from './page/curtain.js';
import { panels } from './model/panels.js';
import { stopLoader } from './page/rest.js';
import { watchRoom } from './page/room.js';
import { loadStrings } from './page/load_strings.js';
import { nameTabs, openTab } from './page/tabs.js';
import { readSweepLink } from './sweep/link.js';
import { connect } from './wire/packets.js';

await loadStrings();
nameTabs();
watchRoom();
stopLoader();
// A tab is drawn when it is first opened.
if (readSweepLink(window.location.search)) openTab('compare');

/** Parts of the whole page: `mount(container, data)`. */
const parts = {
  header: mountHeader,
  welcome: mountWelcome,
  rounds: (container, data) => mountRounds(container, data, makeLiveButton, makeFlip),
  lossless: mountLossless,
  learn: mountLearn,
  coach: mountCoach,
  prompt: mountPrompt,
  hub: mountHub,
  limits: mountLimits,
  frame: mountCompare,
  sweep: mountSweep,
};
/** Parts of one panel: `mount(container, data, panel)`. */
const views = {
  status: mountStatus,
  speed: mountSpeed,
  figures: mountFigures,
  // A race that is shown without a server has nothing to draw charts with.
  stage: (container, data, panel) =>
    mountStage(container, panel, data?.plotly ? [liveCharts(panel, data.plotly)] : [], makeFlip),
  clock: mountClock,
  charts: mountCharts,
  predict: mountPredict,
};
/** Parts in which something is chosen: `mount(container, data, choose)`. */
const choices = {
  examples: mountExamples,
  fitted: mountFitted,
  lanes: mountLanes,
  settings: mountSettings,
};

export { noteSetting } from './controls/settings.js';

/** Draw a part that belongs to the whole page. */
export function mountPart(name, element, data) {
  draw(element, (container) => parts[name](container, data));
}

/** Draw a part that follows the races of one panel. */
export function mountInPanel(name, panel, element, data) {
  draw(element, (container) => views[name](container, data, panels[panel]));
}

/** Draw a part in which something is chosen; what is chosen becomes the component's value. */
export function mountChoice(name, element, props, trigger, data) {
  const choose = (value) => {
    props.value = value;
    trigger('change');
  };
  draw(element, (container) => choices[name](container, data, choose));
}

function draw(element, mount) {
  const container = element.querySelector('.sv-view');
  try {
    mount(container);
  } finally {
    noteDrawn(container);
  }
}

/** Let packets in. */
export function connectBus(props, server, watch) {
  connect(panels, props, server, watch);
}

// The page's one entry: owns the store and gives every view its place in the document.
import { connect } from './bus.js';
import { mountCharts } from './charts.js';
import { mountExamples as showExamples } from './examples.js';
import { mountFigures } from './figures.js';
import { mountHeader } from './header.js';
import { mountStage } from './stage.js';
import { mountStatus } from './status.js';
import { Store } from './store.js';

const store = new Store();
const views = {
  header: mountHeader,
  status: mountStatus,
  figures: mountFigures,
  stage: mountStage,
  charts: mountCharts,
};

/** Draw one view into its component. */
export function mount(name, element, data) {
  views[name](element.querySelector('.sv-view'), data, store);
}

/** Draw the example prompts; a chosen one becomes the component's value. */
export function mountExamples(element, props, trigger, groups) {
  showExamples(element.querySelector('.sv-view'), groups, (prompt) => {
    props.value = prompt;
    trigger('change');
  });
}

/** Let packets in. */
export function connectBus(props, server, watch) {
  connect(store, props, server, watch);
}

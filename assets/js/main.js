// The page's one entry: owns a store for each scene and gives every view its place in the document.
import { connect } from './bus.js';
import { mountCharts } from './charts.js';
import { mountExamples } from './examples.js';
import { mountFigures } from './figures.js';
import { mountFitted } from './fitted.js';
import { mountHeader } from './header.js';
import { mountStage } from './stage.js';
import { mountStatus } from './status.js';
import { Store } from './store.js';

const stores = { race: new Store(), compare: new Store() };
const views = {
  header: (place, data) => mountHeader(place, data, Object.values(stores)),
  status: mountStatus,
  figures: mountFigures,
  stage: mountStage,
  charts: mountCharts,
};
const choices = { examples: mountExamples, fitted: mountFitted };

/** Draw one view of a scene into its component. */
export function mount(name, scene, element, data) {
  views[name](element.querySelector('.sv-view'), data, stores[scene], scene);
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
  connect(stores, props, server, watch);
}

// Acceptance and speedup while a race runs, beside the lanes, until a token is pointed at.
import { drawingOf } from './chart_drawing.js';
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { wrap } from '../page/dom.js';

const SHOWN = ['speedup', 'acceptance'];
const LONGEST_REST_MS = 3000;

/** Make the two charts; they are hidden as long as there is nothing to draw. */
export function liveCharts(panel, address) {
  const drawing = drawingOf(panel, address);
  const charts = SHOWN.map((id) => CHARTS.find((chart) => chart.id === id));
  const frames = charts.map((chart) => new ChartFrame(chart, () => drawing.ask(), true));
  const element = wrap('div', 'sv-live', ...frames.map((frame) => frame.element));
  element.hidden = true;
  drawing.add(frames);
  panel.playback.follow((race) => {
    element.hidden = !race.hasRounds;
  });
  loadAtRest(drawing);
  return element;
}

/** What draws is read while a visitor reads the page: in a race it would hold up the first rounds. */
function loadAtRest(drawing) {
  const load = () => drawing.load().catch((error) => console.error('charts cannot be drawn', error));
  if (window.requestIdleCallback) window.requestIdleCallback(load, { timeout: LONGEST_REST_MS });
  else setTimeout(load, LONGEST_REST_MS);
}

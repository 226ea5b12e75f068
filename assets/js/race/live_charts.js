// Acceptance and speedup while a race runs, beside the lanes, until a token is pointed at.
import { drawingOf } from './chart_drawing.js';
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { wrap } from '../page/dom.js';

const SHOWN = ['speedup', 'acceptance'];
/** Where a browser does not say when it is idle. */
const IDLE_MS = 1500;

/** Make the two charts; they are hidden as long as there is nothing to draw. */
export function liveCharts(panel, address) {
  const drawing = drawingOf(panel, address);
  const charts = SHOWN.map((id) => CHARTS.find((chart) => chart.id === id));
  const frames = charts.map((chart) => new ChartFrame(chart, () => drawing.ask(), true));
  const element = wrap('div', 'sv-live', ...frames.map((frame) => frame.element));
  element.hidden = true;
  drawing.add(frames);
  // What draws is fetched before a race needs its time, and not where these charts find no room.
  const fetchIfSeen = () => element.parentElement?.checkVisibility() && drawing.load();
  requestWhenIdle(fetchIfSeen);
  panel.playback.follow((race, isNew) => {
    if (isNew && panel.playback.run !== null) fetchIfSeen();
    element.hidden = !race.hasRounds;
  });
  return element;
}

function requestWhenIdle(act) {
  if ('requestIdleCallback' in window) window.requestIdleCallback(act);
  else setTimeout(act, IDLE_MS);
}

// Acceptance and speedup while a race runs, beside the lanes, until a token is pointed at.
import { drawingOf } from './chart_drawing.js';
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { wrap } from '../page/dom.js';

const SHOWN = ['speedup', 'acceptance'];

/** Make the two charts; they are hidden as long as there is nothing to draw. */
export function liveCharts(panel, address) {
  const drawing = drawingOf(panel, address);
  const charts = SHOWN.map((id) => CHARTS.find((chart) => chart.id === id));
  const frames = charts.map((chart) => new ChartFrame(chart, () => drawing.ask(), true));
  const element = wrap('div', 'sv-live', ...frames.map((frame) => frame.element));
  element.hidden = true;
  drawing.add(frames);
  let isLoading = false;
  panel.playback.follow((race) => {
    // What draws is fetched while the first rounds are made, and not where these charts find no room.
    if (!isLoading && race.isBusy && element.parentElement.checkVisibility()) {
      isLoading = true;
      drawing.load();
    }
    element.hidden = !race.hasRounds;
  });
  return element;
}

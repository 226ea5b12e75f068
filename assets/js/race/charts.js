// All charts of a panel, below the lanes: none before there is something to draw.
import { drawingOf } from './chart_drawing.js';
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { wrap } from '../page/dom.js';

/** Draw the charts and keep them up with the race. */
export function mountCharts(container, data, panel) {
  const drawing = drawingOf(panel, data.plotly);
  const frames = CHARTS.map((chart) => new ChartFrame(chart, () => drawing.ask()));
  const row = wrap('div', 'sv-charts', ...frames.map((frame) => frame.element));
  row.hidden = true;
  container.append(row);
  drawing.add(frames);
  panel.playback.follow((race) => {
    if (race.hasRounds) row.hidden = false;
  });
}

// What each live chart shows, as plotly traces and layout; the numbers come from the server as they are.
import { chartLayout } from './plotly.js';

const DASHES = ['dot', 'solid', 'dash', 'dashdot'];

/** The numbers of a race that has not begun: one entry a lane, the target alone first. */
export function emptySeries() {
  return [];
}

/** The numbers of one lane that has done nothing yet. */
export function laneSeries(name) {
  return { name, seconds: [0], tokens: [0], round: [], share: [], alpha: [], speedup: [] };
}

export const CHARTS = [
  {
    title: 'Speedup so far',
    about: 'Line chart: running speedup over rounds',
    draw: (series, theme) => ({
      traces: guessing(series).map((lane) =>
        line(lane, theme, { x: lane.round, y: lane.speedup, hovertemplate: '%{y:.2f}×' }),
      ),
      layout: layout(theme, series, {
        x: 'round',
        y: { rangemode: 'tozero', ticksuffix: '×' },
        shapes: [level(1, theme.soft)],
      }),
    }),
  },
  {
    title: 'Accepted share of judged guesses',
    about: 'Running alpha over rounds; with one lane that guesses, bars show the share of each round',
    draw: (series, theme) => {
      const lanes = guessing(series);
      const lines = lanes.map((lane) =>
        line(lane, theme, {
          x: lane.round,
          y: lane.alpha,
          name: lanes.length > 1 ? lane.name : 'running α',
          hovertemplate: '%{y:.1%}',
        }),
      );
      return {
        traces: lanes.length === 1 ? [bars(lanes[0], theme), ...lines] : lines,
        layout: layout(theme, series, { x: 'round', y: { range: [0, 1.04], tickformat: '.0%' } }),
      };
    },
  },
  {
    title: 'Tokens over the lanes’ own clocks',
    about: 'Line chart: tokens written over device time, one line a lane',
    draw: (series, theme) => ({
      traces: numbered(series).map((lane) =>
        line(lane, theme, { x: lane.seconds, y: lane.tokens, hovertemplate: '%{y}' }),
      ),
      layout: layout(theme, series, { x: 'seconds', y: { rangemode: 'tozero' } }),
    }),
  },
];

function numbered(series) {
  return series.map((lane, index) => ({ ...lane, index }));
}

function guessing(series) {
  return numbered(series).slice(1);
}

function line(lane, theme, rest) {
  const shape = { color: theme.lanes[lane.index], width: 2.5, dash: DASHES[lane.index] };
  return { type: 'scatter', mode: 'lines', name: lane.name, line: shape, ...rest };
}

function bars(lane, theme) {
  const marker = { color: theme.bar };
  const shown = { x: lane.round, y: lane.share, marker, hovertemplate: '%{y:.0%}' };
  return { type: 'bar', name: 'this round', ...shown };
}

function level(y, color) {
  const shape = { color, width: 1, dash: 'dash' };
  return { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: shape };
}

function layout(theme, series, { x, y, shapes = [] }) {
  const isEmpty = !series.some((lane) => lane.round.length);
  const hint = { text: 'appears with the race', showarrow: false, font: { color: theme.soft } };
  return chartLayout(theme, {
    uirevision: 'race',
    height: 240,
    x: {
      title: { text: x, standoff: 6 },
      rangemode: 'tozero',
      range: isEmpty ? [0, 20] : undefined,
    },
    y,
    hovermode: 'x unified',
    bargap: 0.15,
    shapes,
    annotations: isEmpty ? [{ ...hint, xref: 'paper', yref: 'paper', x: 0.5, y: 0.5 }] : [],
  });
}

// What each live chart shows, as plotly traces and layout; the numbers come from the server as they are.
import { asText } from '../core/plotly.js';
import { t } from '../core/strings.js';
import { keptChart, positionChart } from './spread_specs.js';

const DASHES = ['dot', 'solid', 'dash', 'dashdot'];

/**
 * A chart: `lanes(series)` are those it shows, with `picks` one at a time, each as soon as it has a
 * round or `isReady(lane)`.
 * `draw(lanes, theme)` gives traces and layout, `tell(lane)` a lane's newest numbers in words.
 * Its title is the text `chart.ID`, what it shows in words `chart.ID_about`.
 */
export const CHARTS = [
  {
    id: 'speedup',
    lanes: (series) => series.guessing,
    draw: (lanes, theme) => ({
      traces: lanes.map((lane) => line(lane, theme, { y: lane.speedup, hovertemplate: '%{y:.2f}×' })),
      layout: overRounds({
        y: { rangemode: 'tozero', ticksuffix: '×' },
        shapes: [level(1, theme.soft)],
      }),
    }),
    tell: (lane) =>
      t('chart.speedup_now', {
        lane: lane.name,
        speedup: decimals(lane.speedup.at(-1), 2),
        round: lane.round.at(-1),
      }),
  },
  {
    id: 'acceptance',
    lanes: (series) => series.guessing,
    draw: (lanes, theme) => {
      const isAlone = lanes.length === 1;
      const lines = lanes.map((lane) =>
        line(lane, theme, {
          y: lane.alpha,
          name: isAlone ? t('chart.running_alpha') : asText(lane.name),
          hovertemplate: '%{y:.1%}',
        }),
      );
      return {
        traces: isAlone ? [shares(lanes[0], theme), ...lines] : lines,
        layout: overRounds({ y: { range: [0, 1.04], tickformat: '.0%' } }),
      };
    },
    tell: (lane) =>
      t('chart.acceptance_now', {
        lane: lane.name,
        alpha: percent(lane.alpha.at(-1)),
        round: lane.round.at(-1),
      }),
  },
  {
    id: 'tokens',
    lanes: (series) => series.lanes,
    draw: (lanes, theme) => ({
      traces: lanes.map((lane) =>
        line(lane, theme, { x: lane.seconds, y: lane.tokens, hovertemplate: '%{y}' }),
      ),
      layout: {
        x: { title: axis('seconds'), rangemode: 'tozero' },
        y: { rangemode: 'tozero' },
        hovermode: 'x unified',
      },
    }),
    tell: (lane) =>
      t('chart.tokens_now', {
        lane: lane.name,
        n: lane.tokens.at(-1),
        seconds: decimals(lane.seconds.at(-1), 2),
      }),
  },
  keptChart,
  positionChart,
  {
    id: 'gamma',
    picks: true,
    lanes: (series) => series.guessing,
    draw: ([lane], theme) => ({
      traces: [
        { ...bars(lane.kept, theme.bar), x: lane.round, name: t('chart.kept_in_round') },
        line(lane, theme, {
          y: lane.gamma,
          name: t('chart.gamma_asked'),
          line: { color: theme.lanes[lane.index], width: 2, shape: 'hvh' },
          hovertemplate: '%{y}',
        }),
      ],
      layout: overRounds({ y: { rangemode: 'tozero', tickformat: 'd' } }),
    }),
    tell: (lane) =>
      t('chart.gamma_now', {
        lane: lane.name,
        round: lane.round.at(-1),
        gamma: lane.gamma.at(-1),
        kept: lane.kept.at(-1),
      }),
  },
  {
    id: 'times',
    picks: true,
    isWide: true,
    lanes: (series) => series.lanes,
    draw: ([lane], theme) => ({
      traces: [
        times(lane, 'draft', theme, '/'),
        times(lane, 'verify', theme, ''),
        times(lane, 'other', theme, '.'),
      ],
      layout: overRounds({
        y: { rangemode: 'tozero', ticksuffix: ' ms' },
        barmode: 'stack',
        legend: { traceorder: 'normal' },
      }),
    }),
    tell: (lane) =>
      t('chart.times_now', {
        lane: lane.name,
        round: lane.round.at(-1),
        draft: decimals(lane.draft.at(-1), 1),
        verify: decimals(lane.verify.at(-1), 1),
        other: decimals(lane.other.at(-1), 1),
      }),
  },
];

/** What an empty chart looks like. */
export function emptyChart(theme) {
  const hint = { text: t('chart.empty'), showarrow: false, font: { color: theme.soft } };
  return {
    traces: [],
    layout: {
      x: { range: [0, 20] },
      annotations: [{ ...hint, xref: 'paper', yref: 'paper', x: 0.5, y: 0.5 }],
    },
  };
}

function line(lane, theme, rest) {
  const shape = { color: theme.lanes[lane.index], width: 2.5, dash: DASHES[lane.index] };
  const traced = { type: 'scatter', mode: 'lines', name: asText(lane.name), line: shape };
  return { ...traced, x: lane.round, ...rest };
}

function bars(y, color) {
  return { type: 'bar', y, marker: { color }, hovertemplate: '%{y}' };
}

function shares(lane, theme) {
  const drawn = { ...bars(lane.share, theme.bar), x: lane.round, name: t('chart.this_round') };
  return { ...drawn, hovertemplate: '%{y:.0%}' };
}

function times(lane, kind, theme, shape) {
  const pattern = { shape, fillmode: 'overlay', size: 5, solidity: 0.35, fgcolor: theme.surface };
  return {
    ...bars(lane[kind]),
    x: lane.round,
    name: t(`clock.${kind}`),
    marker: { color: theme[kind], pattern },
    hovertemplate: '%{y:.2f} ms',
  };
}

function level(y, color) {
  const shape = { color, width: 1.5, dash: 'dash' };
  return { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: shape };
}

function axis(name) {
  return { text: t(`chart.axis_${name}`), standoff: 6 };
}

function overRounds(rest) {
  const x = { title: axis('round'), rangemode: 'tozero' };
  return { x, hovermode: 'x unified', bargap: 0.15, ...rest };
}

function decimals(number, digits) {
  return number === null ? '–' : number.toFixed(digits);
}

function percent(number) {
  return number === null ? '–' : `${(100 * number).toFixed(0)} %`;
}

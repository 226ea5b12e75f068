// What each live chart shows, as plotly traces and layout; figures come from the server as they are.
import { axis, bars, each, line, numbersOf, overRounds } from './chart_parts.js';
import { speedupChart } from './chart_speedup.js';
import { othersChart } from './chart_others.js';
import { keptChart, positionChart } from './chart_theory.js';
import { laneName } from '../model/names.js';
import { decimals, percent } from '../page/numbers.js';
import { asText } from '../page/plotly_text.js';
import { t } from '../page/strings.js';

const drafting = (race) => race.drafting;
const last = (lane) => lane.rounds.at(-1);

/**
 * A chart: `lanes(race)` are those it shows, with `picks` one at a time, each as soon as it has a
 * round or `isReady(lane)`. `draw(lanes, theme)` gives traces and layout, `tell(lane)` a lane's newest
 * numbers in words. Its title is the text `chart.ID`, what it shows in words `chart.ID_about`.
 */
export const CHARTS = [
  speedupChart,
  {
    id: 'acceptance',
    lanes: drafting,
    draw: (lanes, theme) => {
      const isAlone = lanes.length === 1;
      const lines = lanes.map((lane) =>
        line(lane, theme, {
          y: each(lane, (round) => round.alpha),
          name: isAlone ? t('chart.running_alpha') : asText(laneName(lane)),
          hovertemplate: '%{y:.1%}',
        }),
      );
      return {
        traces: isAlone ? [shares(lanes[0], theme), ...lines] : lines,
        layout: overRounds({ y: { range: [0, 1.04], tickformat: '.0%' } }),
      };
    },
    tell: (lane) => say('acceptance', lane, { alpha: percent(last(lane).alpha) }),
  },
  {
    id: 'tokens',
    lanes: (race) => race.lanes,
    draw: (lanes, theme) => ({
      traces: lanes.map((lane) =>
        // Both lines begin where the clocks do.
        line(lane, theme, {
          x: [0, ...each(lane, (round) => round.endMs / 1000)],
          y: [0, ...each(lane, (round) => round.numEmittedSoFar)],
          hovertemplate: '%{y}',
        }),
      ),
      layout: {
        x: { title: axis('seconds'), rangemode: 'tozero' },
        y: { rangemode: 'tozero' },
        hovermode: 'x unified',
      },
    }),
    tell: (lane) =>
      say('tokens', lane, { n: lane.numEmitted, seconds: decimals(lane.clockMs / 1000, 2) }),
  },
  keptChart,
  positionChart,
  {
    id: 'gamma',
    picks: true,
    lanes: drafting,
    draw: ([lane], theme) => ({
      traces: [
        bars(
          each(lane, (round) => round.numKept),
          theme.bar,
          { x: numbersOf(lane), name: t('chart.kept_in_round') },
        ),
        line(lane, theme, {
          y: each(lane, (round) => round.facts.gamma),
          name: t('chart.gamma_asked'),
          line: { color: theme.lanes[lane.index], width: 2, shape: 'hvh' },
          hovertemplate: '%{y}',
        }),
      ],
      layout: overRounds({ y: { rangemode: 'tozero', tickformat: 'd' } }),
    }),
    tell: (lane) => say('gamma', lane, { gamma: last(lane).facts.gamma, kept: last(lane).numKept }),
  },
  othersChart,
  {
    id: 'times',
    picks: true,
    isWide: true,
    lanes: (race) => race.lanes,
    draw: ([lane], theme) => ({
      traces: [
        timesOf(lane, 'draft', theme, '/'),
        timesOf(lane, 'verify', theme, ''),
        timesOf(lane, 'other', theme, '.'),
      ],
      layout: overRounds({
        y: { rangemode: 'tozero', ticksuffix: ' ms' },
        barmode: 'stack',
        legend: { traceorder: 'normal' },
      }),
    }),
    tell: (lane) => {
      const { draft, verify, other } = last(lane).times;
      const parts = { draft: decimals(draft, 1), verify: decimals(verify, 1) };
      return say('times', lane, { ...parts, other: decimals(other, 1) });
    },
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

function say(id, lane, values) {
  return t(`chart.${id}_now`, { lane: laneName(lane), round: last(lane).number, ...values });
}

/** The share of each round's judged guesses that was accepted. */
function shares(lane, theme) {
  const y = each(lane, (round) => (round.numJudged ? round.numKept / round.numJudged : null));
  const rest = { x: numbersOf(lane), name: t('chart.this_round'), hovertemplate: '%{y:.0%}' };
  return bars(y, theme.bar, rest);
}

function timesOf(lane, kind, theme, shape) {
  const pattern = { shape, fillmode: 'overlay', size: 5, solidity: 0.35, fgcolor: theme.surface };
  return {
    ...bars(
      each(lane, (round) => round.times[kind]),
      theme[kind],
    ),
    x: numbersOf(lane),
    name: t(`clock.${kind}`),
    marker: { color: theme[kind], pattern },
    hovertemplate: '%{y:.2f} ms',
  };
}

// The two charts of how rounds spread, each with what theory expects drawn over what happened.
import { axis, bars, theory } from './chart_parts.js';
import { laneName } from '../model/names.js';
import { percent } from '../page/numbers.js';
import { asText } from '../page/plotly_text.js';
import { t } from '../page/strings.js';

const MARKS = ['circle', 'circle', 'square', 'diamond'];
const FEW_BARS = 9;
const hasDrafted = (lane) => (lane.metrics?.rounds_by_kept.length ?? 0) > 0;

/** How many rounds kept 0, 1, … guesses. */
export const keptChart = {
  id: 'kept',
  picks: true,
  lanes: (race) => race.drafting,
  isReady: hasDrafted,
  draw: ([{ metrics }], theme) => ({
    traces: [keptBars(metrics, theme), ...expected(metrics, theme)],
    layout: {
      x: { title: axis('kept'), ...keptTicks(metrics) },
      y: { rangemode: 'tozero', tickformat: 'd' },
      hovermode: 'x unified',
      bargap: 0.2,
    },
  }),
  tell: (lane) => {
    const { rounds_by_kept: rounds } = lane.metrics;
    return t('chart.kept_now', { lane: laneName(lane), n: sum(rounds), counts: rounds.join(', ') });
  },
};

/** In which share of rounds the first 1, 2, … guesses were all kept. */
export const positionChart = {
  id: 'position',
  lanes: (race) => race.drafting,
  isReady: hasDrafted,
  draw: (lanes, theme) => ({
    traces: [
      ...lanes.map((lane) => rates(lane, theme, lanes.length === 1)),
      ...predicted(lanes, theme),
    ],
    layout: {
      x: { title: axis('position'), dtick: 1 },
      y: { range: [0, 1.04], tickformat: '.0%' },
      hovermode: 'x unified',
      bargap: 0.2,
    },
  }),
  tell: (lane) => {
    const shown = lane.metrics.acceptance_by_position.map(({ rate }) => percent(rate));
    return t('chart.position_now', { lane: laneName(lane), rates: shown.join(', ') });
  },
};

function keptBars({ rounds_by_kept: rounds }, theme) {
  return bars(rounds, theme.bar, {
    name: t('chart.rounds'),
    x: [...rounds.keys()],
    customdata: sharesOf(rounds),
    hovertemplate: t('chart.kept_hover', { count: '%{y}', share: '%{customdata}' }),
  });
}

// Counts and shares stand under the bars where there is room, clear of what theory expects.
function keptTicks({ rounds_by_kept: rounds }) {
  if (rounds.length > FEW_BARS) return { dtick: 1 };
  const shares = sharesOf(rounds);
  return {
    tickvals: [...rounds.keys()],
    ticktext: rounds.map((count, kept) => `<b>${kept}</b><br>${count}<br>${shares[kept]}`),
  };
}

function expected({ expected_rounds_by_kept: rounds }, theme) {
  if (!rounds) return [];
  return [theory(t('chart.expected'), [...rounds.keys()], rounds, theme.ink, '%{y:.1f}')];
}

function rates(lane, theme, isAlone) {
  const color = theme.lanes[lane.index];
  const positions = lane.metrics.acceptance_by_position;
  const shown = isAlone
    ? { type: 'bar', name: t('chart.measured'), marker: { color: theme.bar } }
    : {
        type: 'scatter',
        mode: 'lines+markers',
        name: asText(laneName(lane)),
        line: { color, width: 2.5 },
        marker: { color, symbol: MARKS[lane.index], size: 9 },
      };
  return {
    ...shown,
    x: positions.map((_, index) => index + 1),
    y: positions.map(({ rate }) => rate),
    customdata: positions.map((each) => [each.num_reached, each.num_drafted]),
    hovertemplate: t('chart.position_hover', {
      share: '%{y:.0%}',
      kept: '%{customdata[0]}',
      drafted: '%{customdata[1]}',
    }),
  };
}

// One entry in the legend stands for the predictions of all lanes.
function predicted(lanes, theme) {
  return lanes
    .filter((lane) => lane.metrics.expected_by_position)
    .map(({ index, metrics }, turn) => {
      const { expected_by_position: rates } = metrics;
      const positions = rates.map((_, place) => place + 1);
      const color = lanes.length === 1 ? theme.ink : theme.lanes[index];
      const trace = theory(t('chart.predicted'), positions, rates, color, '%{y:.0%}');
      return { ...trace, showlegend: turn === 0 };
    });
}

function sharesOf(rounds) {
  return rounds.map((count) => percent(count / sum(rounds)));
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

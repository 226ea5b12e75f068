// The two charts of how rounds spread, each with what theory expects drawn over what happened.
import { asText } from '../core/plotly.js';
import { t } from '../core/strings.js';

const MARKS = ['circle', 'circle', 'square', 'diamond'];
const FEW_BARS = 9;

/** How many rounds kept 0, 1, … guesses. */
export const keptChart = {
  id: 'kept',
  picks: true,
  lanes: (series) => series.guessing,
  isReady: (lane) => lane.spread?.rounds > 0,
  draw: ([{ spread }], theme) => ({
    traces: [keptBars(spread, theme), ...expected(spread, theme)],
    layout: {
      x: { title: axis('kept'), ...keptTicks(spread) },
      y: { rangemode: 'tozero', tickformat: 'd' },
      hovermode: 'x unified',
      bargap: 0.2,
    },
  }),
  tell: ({ name, spread }) =>
    t('chart.kept_now', {
      lane: name,
      n: spread.rounds,
      counts: spread.kept.map(([count]) => count).join(', '),
    }),
};

/** In which share of rounds the first 1, 2, … guesses were all kept. */
export const positionChart = {
  id: 'position',
  lanes: (series) => series.guessing,
  isReady: (lane) => lane.spread?.rounds > 0,
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
  tell: ({ name, spread }) =>
    t('chart.position_now', {
      lane: name,
      rates: spread.position.map(([rate]) => `${(100 * rate).toFixed(0)} %`).join(', '),
    }),
};

function keptBars({ kept }, theme) {
  return {
    type: 'bar',
    name: t('chart.rounds'),
    x: kept.map((_, length) => length),
    y: kept.map(([count]) => count),
    customdata: kept.map(([, share]) => share),
    hovertemplate: t('chart.kept_hover', { count: '%{y}', share: '%{customdata}' }),
    marker: { color: theme.bar },
  };
}

// Counts and shares stand under the bars where there is room, clear of what theory expects.
function keptTicks({ kept }) {
  if (kept.length > FEW_BARS) return { dtick: 1 };
  return {
    tickvals: kept.map((_, length) => length),
    ticktext: kept.map(([count, share], length) => `<b>${length}</b><br>${count}<br>${share}`),
  };
}

function expected({ expected: rounds }, theme) {
  if (!rounds) return [];
  return [theory(t('chart.expected'), rounds.map((_, length) => length), rounds, theme.ink, '%{y:.1f}')];
}

function rates({ name, index, spread }, theme, isAlone) {
  const color = theme.lanes[index];
  const shown = isAlone
    ? { type: 'bar', name: t('chart.measured'), marker: { color: theme.bar } }
    : {
        type: 'scatter',
        mode: 'lines+markers',
        name: asText(name),
        line: { color, width: 2.5 },
        marker: { color, symbol: MARKS[index], size: 9 },
      };
  return {
    ...shown,
    x: spread.position.map((_, place) => place + 1),
    y: spread.position.map(([rate]) => rate),
    customdata: spread.position.map(([, reached, drafted]) => [reached, drafted]),
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
    .filter((lane) => lane.spread.predicted)
    .map(({ index, spread }, turn) => {
      const places = spread.predicted.map((_, place) => place + 1);
      const color = lanes.length === 1 ? theme.ink : theme.lanes[index];
      const trace = theory(t('chart.predicted'), places, spread.predicted, color, '%{y:.0%}');
      return { ...trace, showlegend: turn === 0 };
    });
}

function theory(name, x, y, color, hovertemplate) {
  const marker = { color, symbol: 'diamond-open', size: 8 };
  const line = { color, width: 1.5, dash: 'dot' };
  return { type: 'scatter', mode: 'lines+markers', name, x, y, marker, line, hovertemplate };
}

function axis(name) {
  return { text: t(`chart.axis_${name}`), standoff: 6 };
}

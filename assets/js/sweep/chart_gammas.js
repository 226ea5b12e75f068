// Speedup against γ: what was measured with its interval, the textbook's curve and the one with measured v.
import { decimals, times } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { leaderOf, title } from './chart_names.js';

/** A chart as `charts.js` describes them. */
export const gammaChart = { id: 'gammas', picks: true, draw, tell };

function draw(results, theme, draft) {
  const leader = leaderOf(results, draft);
  const cells = results.cellsOf(leader.lane);
  const even = { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 1, y1: 1 };
  return {
    traces: [
      curve('textbook', cells, 'predicted_speedup_textbook', { color: theme.draft, dash: 'dot', symbol: 'diamond-open' }),
      curve('predicted', cells, 'predicted_speedup', { color: theme.verify, dash: 'dash', symbol: 'square-open' }),
      { ...curve('measured', cells, 'speedup', { color: theme.lanes[1], width: 2.5 }), error_y: ends(cells, theme) },
      best(leader, theme),
    ],
    layout: {
      x: { title: title('gamma'), dtick: 1 },
      y: { rangemode: 'tozero', ticksuffix: '×' },
      hovermode: 'x unified',
      shapes: [{ ...even, line: { color: theme.soft, width: 1.5, dash: 'dash' } }],
    },
  };
}

function curve(name, cells, field, { color, dash = 'solid', symbol = 'circle', width = 1.5 }) {
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name: t(`sweep_page.${name}`),
    x: cells.map(({ gamma }) => gamma),
    y: cells.map((cell) => cell[field]),
    line: { color, width, dash },
    marker: { color, symbol, size: 8 },
    hovertemplate: '%{y:.2f}×',
  };
}

function ends(cells, theme) {
  const off = (end) => cells.map((cell) => Math.abs((cell[end] ?? cell.speedup) - cell.speedup));
  const arms = { array: off('speedup_high'), arrayminus: off('speedup_low') };
  return { type: 'data', symmetric: false, ...arms, color: theme.lanes[1], thickness: 1.5 };
}

function best({ gamma, speedup }, theme) {
  return {
    type: 'scatter',
    mode: 'markers+text',
    x: [gamma],
    y: [speedup],
    text: [t('sweep_page.best_mark', { gamma })],
    textposition: 'bottom center',
    textfont: { color: theme.ink },
    marker: { symbol: 'star', size: 16, color: theme.lanes[1], line: { color: theme.ink, width: 1.5 } },
    hoverinfo: 'skip',
    showlegend: false,
  };
}

function tell(results, draft) {
  const leader = leaderOf(results, draft);
  if (!leader) return '';
  const { draft: name, gamma, speedup } = leader;
  const told = t('sweep_page.chart_gammas_now', { draft: name, gamma, speedup: times(speedup) });
  const { prediction } = results;
  if ((prediction?.r_squared ?? null) === null) return told;
  const r = decimals(prediction.r_squared, 2);
  const textbook = decimals(prediction.r_squared_textbook, 2);
  return `${told} ${t('sweep_page.r_squared', { n: prediction.num_cells, r, textbook })}`;
}

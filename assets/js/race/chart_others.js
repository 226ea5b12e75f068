// What other draft lengths would have given on the very rounds that were raced, and what no draft can beat.
import { axis, level } from './chart_parts.js';
import { laneName } from '../model/names.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** How much of the lane's colour a band has, as the last digits of a colour. */
const BAND = '38';
/** The oracle's line goes far beyond what is of interest; so many times the best range is shown of it. */
const ORACLE_ROOM = 1.6;

/** Speedups by γ: a line where the record knows, a band where it leaves room, the oracle above. */
export const othersChart = {
  id: 'others',
  picks: true,
  isWide: true,
  lanes: (race) => race.drafting,
  isReady: (lane) => lane.other_gammas.length > 0,
  draw: ([lane], theme) => {
    const rows = lane.other_gammas;
    const color = theme.lanes[lane.index];
    const x = rows.map((row) => row.gamma);
    const edge = { type: 'scatter', mode: 'lines', x, line: { width: 0 }, hoverinfo: 'skip', showlegend: false };
    const high = { ...edge, y: rows.map((row) => row.speedup_high) };
    const band = { fill: 'tonexty', fillcolor: `${color}${BAND}` };
    return {
      traces: [
        high,
        { ...edge, ...band, y: rows.map((row) => row.speedup_low), name: t('chart.others_room'), showlegend: true },
        least(rows, color),
        oracle(rows, theme),
        raced(lane, theme),
      ],
      layout: {
        x: { title: axis('gamma'), dtick: 1, range: [0.6, x.at(-1) + 0.4] },
        y: { range: [0, topOf(rows)], ticksuffix: '×' },
        hovermode: 'x',
        shapes: [level(1, theme.soft)],
      },
    };
  },
  tell: (lane) => {
    const best = bestOf(lane.other_gammas);
    const told = { lane: laneName(lane), gamma: best.gamma, own: lane.spec.gamma, known: best.num_known, n: best.num_rounds };
    const isKnown = best.num_known === best.num_rounds;
    const speedups = { low: decimals(best.speedup_low, 2), high: decimals(best.speedup_high, 2) };
    return t(isKnown ? 'chart.others_now_known' : 'chart.others_now', { ...told, ...speedups });
  },
};

/** The draft length that is best where nothing is hoped for that the record does not show. */
export function bestOf(rows) {
  return rows.reduce((best, row) => (row.speedup_low > best.speedup_low ? row : best));
}

function topOf(rows) {
  return ORACLE_ROOM * Math.max(1, ...rows.map((row) => row.speedup_low), bestOf(rows).speedup_high);
}

function least(rows, color) {
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name: t('chart.others_least'),
    x: rows.map((row) => row.gamma),
    y: rows.map((row) => row.speedup_low),
    text: rows.map((row) =>
      t(row.num_known === row.num_rounds ? 'chart.others_hover' : 'chart.others_hover_open', {
        low: decimals(row.speedup_low, 2),
        high: decimals(row.speedup_high, 2),
        known: row.num_known,
        n: row.num_rounds,
      }),
    ),
    line: { color, width: 2.5 },
    // A hollow mark is one of which the record does not tell all.
    marker: { color, size: 8, symbol: rows.map((row) => (row.num_known === row.num_rounds ? 'circle' : 'circle-open')) },
    hovertemplate: '%{text}<extra></extra>',
  };
}

function oracle(rows, theme) {
  return {
    type: 'scatter',
    mode: 'lines',
    name: t('chart.others_oracle'),
    x: rows.map((row) => row.gamma),
    y: rows.map((row) => row.oracle_speedup),
    line: { color: theme.ink, width: 1.5, dash: 'dot' },
    hovertemplate: `${t('chart.others_oracle')}: %{y:.2f}×<extra></extra>`,
  };
}

function raced(lane, theme) {
  const own = lane.other_gammas.find((row) => row.gamma === lane.spec.gamma);
  const marker = { color: theme.ink, symbol: 'diamond', size: 11 };
  const points = own ? { x: [own.gamma], y: [own.speedup_low] } : { x: [], y: [] };
  return { type: 'scatter', mode: 'markers', name: t('chart.others_own'), ...points, marker, hoverinfo: 'skip' };
}

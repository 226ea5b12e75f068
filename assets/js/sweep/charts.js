// What each chart of a sweep shows, as plotly traces and layout, and says in a sentence.
import { decimals, percent, times } from '../page/numbers.js';
import { asText } from '../page/plotly.js';
import { t } from '../page/strings.js';
import { leaderOf, shortName, title } from './chart_names.js';
import { gammaChart } from './chart_gammas.js';

const SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'x', 'star', 'pentagon', 'cross', 'hexagon'];
const DASHES = ['solid', 'dash', 'dot', 'dashdot'];
const COLOURS = [1, 2, 3];
const STACKED = { barmode: 'stack', hovermode: 'y unified', bargap: 0.3, legend: { traceorder: 'normal' } };
const PARTS = ['draft', 'verify', 'other'];

/**
 * A chart: `draw(results, theme, draft)` gives traces and layout, `tell(results, draft)` a sentence; with
 * `picks` it shows one draft at a time. Its title is the text `sweep_page.chart_ID`.
 */
export const SWEEP_CHARTS = [
  gammaChart,
  { id: 'map', draw: drawMap, tell: tellMap },
  { id: 'position', draw: drawPositions, tell: tellPositions },
  { id: 'kept', picks: true, draw: drawKept, tell: tellKept },
  { id: 'times', draw: drawTimes, tell: tellTimes },
  { id: 'memory', draw: drawMemory, tell: tellMemory },
];

/** α against c with lines of equal speedup; each draft is a point, but for trees, which the formula does not know. */
function drawMap({ leaders, map }, theme) {
  const points = leaders.filter(({ cell }) => cell?.alpha !== null && cell?.draft_cost !== null && cell?.predicted_speedup_textbook !== null);
  const most = Math.max(0.3, ...(map?.lines ?? []).flatMap(({ points: [...each] }) => each.map(([cost]) => cost)));
  const lines = (map?.lines ?? []).map(({ speedup, points: each }) => ({
    type: 'scatter',
    mode: 'lines+text',
    x: each.map(([cost]) => cost),
    y: each.map(([, alpha]) => alpha),
    text: each.map((_, index) => (index === each.length - 1 ? times(speedup) : '')),
    textposition: 'top left',
    textfont: { color: theme.soft, size: 11 * theme.textScale },
    line: { color: speedup === 1 ? theme.ink : theme.soft, width: speedup === 1 ? 2 : 1, dash: speedup === 1 ? 'solid' : 'dot' },
    hoverinfo: 'skip',
    showlegend: false,
  }));
  const drafts = points.map(({ draft, index, cell, speedup }) => ({
    type: 'scatter',
    mode: 'markers',
    name: shortName(draft),
    x: [cell.draft_cost],
    y: [cell.alpha],
    marker: markOf(index, theme, 13),
    hovertemplate: `${asText(draft)}: ${times(speedup)}<br>c %{x:.3f}, α %{y:.2f}<extra></extra>`,
  }));
  return {
    traces: [...lines, ...drafts],
    layout: {
      x: { title: title('cost'), range: [-0.02 * most, most] },
      y: { title: title('alpha'), range: [0, 1.04], tickformat: '.0%' },
      hovermode: 'closest',
    },
  };
}

function tellMap({ leaders, map }) {
  const kept = leaders.filter(({ cell }) => (cell?.alpha ?? null) !== null);
  if (!kept.length) return '';
  const most = kept.reduce((one, other) => (other.cell.alpha > one.cell.alpha ? other : one));
  const [fastest] = leaders;
  const values = { draft: most.draft, alpha: percent(most.cell.alpha), other: fastest.draft };
  const told = most === fastest ? t('sweep_page.map_same', values) : t('sweep_page.map_loses', values);
  return map ? `${told} ${t('sweep_page.map_lines', { v: decimals(map.verify_cost, 2) })}` : told;
}

/** Acceptance by position, every draft at its best γ. */
function drawPositions({ leaders }, theme) {
  return {
    traces: leaders.map(({ draft, index, cell }) => ({
      type: 'scatter',
      mode: 'lines+markers',
      name: shortName(draft),
      x: cell.acceptance_by_position.map((_, place) => place + 1),
      y: cell.acceptance_by_position,
      line: { color: colourOf(index, theme), width: 2, dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] },
      marker: markOf(index, theme, 9),
      hovertemplate: '%{y:.0%}',
    })),
    layout: {
      x: { title: title('position'), dtick: 1 },
      y: { range: [0, 1.04], tickformat: '.0%' },
      hovermode: 'x unified',
    },
  };
}

function tellPositions({ leaders }) {
  const [leader] = leaders;
  const rates = leader?.cell?.acceptance_by_position ?? [];
  if (!rates.length) return '';
  return t('sweep_page.chart_position_now', {
    draft: leader.draft,
    first: percent(rates[0]),
    last: percent(rates.at(-1)),
    n: rates.length,
  });
}

/** How many guesses a round kept, of one draft at its best γ. */
function drawKept(results, theme, draft) {
  const { cell } = leaderOf(results, draft);
  return {
    traces: [
      {
        type: 'bar',
        x: [...cell.rounds_by_kept.keys()],
        y: cell.rounds_by_kept,
        text: cell.rounds_by_kept.map(String),
        textposition: 'auto',
        textangle: 0,
        marker: { color: theme.bar },
        hovertemplate: `${t('sweep_page.kept_hover', { count: '%{y}' })}<extra></extra>`,
      },
    ],
    layout: { x: { title: title('kept'), dtick: 1 }, y: { rangemode: 'tozero' }, bargap: 0.2 },
  };
}

function tellKept(results, draft) {
  const leader = leaderOf(results, draft);
  const rounds = leader?.cell?.rounds_by_kept ?? [];
  const n = rounds.reduce((sum, each) => sum + each, 0);
  if (!n) return '';
  const values = { draft: leader.draft, gamma: leader.gamma, n, none: percent(rounds[0] / n), all: percent(rounds.at(-1) / n) };
  return t('sweep_page.chart_kept_now', values);
}

/** Where the time of a token goes, in milliseconds. */
function drawTimes({ leaders }, theme) {
  const shown = [...leaders].reverse();
  const colors = { draft: theme.draft, verify: theme.verify, other: theme.other };
  const shapes = { draft: '/', verify: '', other: '.' };
  return {
    traces: PARTS.map((part) => ({
      type: 'bar',
      orientation: 'h',
      name: t(`sweep_page.part_${part}`),
      y: shown.map(({ draft }) => shortName(draft)),
      x: shown.map(({ cell }) => cell[`${part}_ms`]),
      marker: { color: colors[part], pattern: { shape: shapes[part], fgcolor: theme.surface, fillmode: 'overlay', size: 6 } },
      hovertemplate: '%{x:.2f} ms',
    })),
    layout: { ...STACKED, x: { title: title('ms'), rangemode: 'tozero' } },
  };
}

function tellTimes({ leaders }) {
  const [leader] = leaders;
  const parts = PARTS.map((part) => leader?.cell?.[`${part}_ms`] ?? null);
  if (parts.includes(null)) return '';
  const total = parts.reduce((sum, each) => sum + each, 0);
  const [draft, verify] = parts.map((each) => percent(each / total));
  return t('sweep_page.chart_times_now', { draft: leader.draft, ms: decimals(total, 2), share: draft, checks: verify });
}

/** What target and draft take together. */
function drawMemory(results, theme) {
  const shown = results.leaders.filter(({ lane }) => results.memoryOf(lane)).reverse();
  const bar = (part, color, shape) => ({
    type: 'bar',
    orientation: 'h',
    name: t(`sweep_page.memory_${part}`),
    y: shown.map(({ draft }) => shortName(draft)),
    x: shown.map(({ lane }) => results.memoryOf(lane)[part] / 1e6),
    marker: { color, pattern: { shape, fgcolor: theme.surface, fillmode: 'overlay', size: 6 } },
    hovertemplate: '%{x:.1f} MB',
  });
  return {
    traces: [bar('target', theme.verify, ''), bar('draft', theme.draft, '/')],
    layout: { ...STACKED, x: { title: title('mb'), rangemode: 'tozero' } },
  };
}

function tellMemory(results) {
  const [leader] = results.leaders;
  const memory = leader && results.memoryOf(leader.lane);
  if (!memory) return t('sweep_page.memory_unknown');
  const [target, draft] = [memory.target, memory.draft].map((bytes) => decimals(bytes / 1e6, 1));
  return t(memory.draft ? 'sweep_page.chart_memory_now' : 'sweep_page.memory_none', { draft: leader.draft, target, more: draft });
}

function colourOf(index, theme) {
  return theme.lanes[COLOURS[index % COLOURS.length]];
}

function markOf(index, theme, size) {
  return { color: colourOf(index, theme), symbol: SYMBOLS[index % SYMBOLS.length], size, line: { color: theme.ink, width: 1 } };
}

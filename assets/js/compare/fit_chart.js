// Alpha of each held-out prompt before and after fitting, as two marks joined by a line.
import { CONFIG, asText, chartLayout, loadPlotly } from '../core/plotly.js';
import { t } from '../core/strings.js';
import { onThemeChange, readTheme } from '../core/theme.js';

// Rows come closer where there are many of them.
const ROW_PX = 24;
const MIN_ROW_PX = 13;
const ROWS_PX = 560;
const FRAME_PX = 96;
const LABEL_SHARE = 0.045;
const [BEFORE, AFTER] = [1, 2];

/** Draws the rows of one fitted draft, and draws them anew when they, the width or the colours change. */
export class FitChart {
  #plot;
  #address;
  #rows = [];
  #isSeen = false;
  #width = 0;

  constructor(plot, address) {
    this.#plot = plot;
    this.#address = address;
    new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1).isIntersecting;
      this.#draw();
    }).observe(plot);
    new ResizeObserver(() => {
      if (plot.clientWidth !== this.#width) this.#draw();
    }).observe(plot);
    onThemeChange(() => this.#draw());
  }

  /** Show these rows: `number`, `prompt`, `before`, `after`, `tokens`. */
  show(rows) {
    this.#rows = rows;
    this.#plot.style.height = `${height(rows)}px`;
    this.#draw();
  }

  async #draw() {
    if (!this.#isSeen) return;
    await loadPlotly(this.#address);
    this.#width = this.#plot.clientWidth;
    const theme = readTheme();
    const rows = this.#rows;
    await window.Plotly.react(this.#plot, traces(rows, theme), layout(rows, theme, this.#width), CONFIG);
  }
}

function rowHeight(rows) {
  return Math.min(ROW_PX, Math.max(MIN_ROW_PX, ROWS_PX / rows.length));
}

function height(rows) {
  return FRAME_PX + Math.ceil(rowHeight(rows) * rows.length);
}

function traces(rows, theme) {
  const numbers = rows.map((row) => row.number);
  const gap = {
    type: 'scatter',
    mode: 'lines',
    x: rows.flatMap((row) => [row.before, row.after, null]),
    y: rows.flatMap((row) => [row.number, row.number, null]),
    line: { color: theme.soft, width: 2 },
    hoverinfo: 'skip',
    showlegend: false,
  };
  const marks = (name, key, lane, symbol) => ({
    type: 'scatter',
    mode: 'markers',
    name,
    x: rows.map((row) => row[key]),
    y: numbers,
    marker: { symbol, size: 12, color: theme.lanes[lane], line: { width: 2, color: theme.lanes[lane] } },
    hovertemplate: `${t('fit.chart_mark', { number: '%{y}', alpha: '%{x:.1%}' })}<extra>${name}</extra>`,
  });
  return [
    gap,
    marks(t('waiting.before'), 'before', BEFORE, 'circle-open'),
    marks(t('waiting.after'), 'after', AFTER, 'circle'),
  ];
}

function layout(rows, theme, width) {
  const room = Math.max(4, Math.round(width * LABEL_SHARE));
  return chartLayout(theme, {
    height: height(rows),
    x: { range: [-0.03, 1.03], tickformat: '.0%', title: { text: 'α', standoff: 6 }, fixedrange: true },
    y: {
      tickvals: rows.map((row) => row.number),
      ticktext: rows.map((row) => label(row, room)),
      range: [rows.length + 0.7, 0.3],
      zeroline: false,
      fixedrange: true,
      tickfont: { color: theme.ink, size: rowHeight(rows) < 18 ? 10 : 12 },
    },
    hovermode: 'closest',
  });
}

function label(row, room) {
  const flat = row.prompt.replaceAll(/\s+/g, ' ').trim();
  const short = flat.length > room ? `${flat.slice(0, room)}…` : flat;
  return t('fit.option', { number: row.number, prompt: asText(short) });
}

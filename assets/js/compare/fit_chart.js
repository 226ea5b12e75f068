// Alpha of each held-out prompt before and after fitting, as two marks joined by a line.
import { percent } from '../page/numbers.js';
import { savableConfig } from '../page/chart_picture.js';
import { chartLayout, loadPlotly } from '../page/plotly.js';
import { asText } from '../page/plotly_text.js';
import { t } from '../page/strings.js';
import { onThemeChange, readTheme } from '../page/theme.js';

// Rows come closer where there are many of them.
const ROW_PX = 24;
const MIN_ROW_PX = 13;
const ROWS_PX = 560;
const FRAME_PX = 96;
const LABEL_SHARE = 0.045;
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const [BEFORE, AFTER] = [1, 2];

/** Draws the rows of one fitted draft, and draws them anew when they, the width or the colours change. */
export class FitChart {
  #plot;
  #address;
  #config;
  #rows = [];
  #isSeen = false;
  #width = 0;

  constructor(plot, address) {
    this.#plot = plot;
    this.#address = address;
    this.#config = savableConfig('fit', t('fit.chart'));
    new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1).isIntersecting;
      this.#draw();
    }).observe(plot);
    new ResizeObserver(() => {
      if (plot.clientWidth !== this.#width) this.#draw();
    }).observe(plot);
    onThemeChange(() => this.#draw());
  }

  /** Show these rows: held-out prompts of a fit with their `number`. */
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
    await window.Plotly.react(this.#plot, traces(rows, theme), layout(rows, theme, this.#width), this.#config);
  }
}

function rowHeight(rows) {
  return Math.min(ROW_PX, Math.max(MIN_ROW_PX, ROWS_PX / rows.length));
}

function height(rows) {
  return FRAME_PX + Math.ceil(rowHeight(rows) * rows.length);
}

function traces(rows, theme) {
  const gap = {
    type: 'scatter',
    mode: 'lines',
    x: rows.flatMap((row) => [row.alpha_before, row.alpha_after, null]),
    y: rows.flatMap((row) => [row.number, row.number, null]),
    line: { color: theme.soft, width: 2 },
    hoverinfo: 'skip',
    showlegend: false,
  };
  const marks = (name, field, lane, symbol) => ({
    type: 'scatter',
    mode: 'markers',
    name,
    x: rows.map((row) => row[field]),
    y: rows.map((row) => row.number),
    text: rows.map((row) => t('fit.chart_mark', { number: row.number, alpha: percent(row[field], 1) })),
    marker: { symbol, size: 12, color: theme.lanes[lane], line: { width: 2, color: theme.lanes[lane] } },
    hovertemplate: `%{text}<extra>${name}</extra>`,
  });
  return [
    gap,
    marks(t('waiting.before'), 'alpha_before', BEFORE, 'circle-open'),
    marks(t('waiting.after'), 'alpha_after', AFTER, 'circle'),
  ];
}

function layout(rows, theme, width) {
  const room = Math.max(4, Math.round(width * LABEL_SHARE));
  return chartLayout(theme, {
    height: height(rows),
    x: {
      range: [-0.03, 1.03],
      tickvals: TICKS,
      ticktext: TICKS.map((share) => percent(share)),
      title: { text: 'α', standoff: 6 },
      fixedrange: true,
    },
    y: {
      tickvals: rows.map((row) => row.number),
      ticktext: rows.map((row) => label(row, room)),
      range: [rows.length + 0.7, 0.3],
      zeroline: false,
      fixedrange: true,
      tickfont: { color: theme.ink, size: (rowHeight(rows) < 18 ? 10 : 12) * theme.textScale },
    },
    hovermode: 'closest',
    legend: {},
  });
}

function label({ number, prompt }, room) {
  return t('fit.option', { number, prompt: asText(shortened(prompt, room)) });
}

/** A prompt on one line, of at most so many characters. */
export function shortened(prompt, most) {
  const flat = prompt.replaceAll(/\s+/g, ' ').trim();
  return flat.length > most ? `${flat.slice(0, most)}…` : flat;
}

// α on held-out prompts while a draft learns, with the best point marked.
import { savableConfig } from '../page/chart_picture.js';
import { make } from '../page/dom.js';
import { decimals, percent } from '../page/numbers.js';
import { chartLayout, loadPlotly } from '../page/plotly.js';
import { t } from '../page/strings.js';
import { onThemeChange, readTheme } from '../page/theme.js';
import { bestOf } from './fit_news.js';

const HEIGHT_PX = 250;
const LEGEND_PX = 32;
const HEADROOM = 1.15;
/** Seconds that the axis shows at least. */
const SHORTEST = 20;
const AFTER = 2;

/** Draws the points of one fit as they come. */
export class FitCurve {
  #plot = make('div', 'sv-fit-curve-plot');
  #image = make('div', 'sv-spoken', '', { role: 'img' });
  #address;
  #config = savableConfig('fitting', t('fitting.chart'));
  #fit = null;
  #width = 0;

  constructor(address) {
    this.#address = address;
    this.element = make('figure', 'sv-fit-curve');
    this.element.append(make('figcaption', '', t('fitting.chart')), this.#image, this.#plot);
    onThemeChange(() => this.#draw());
    new ResizeObserver(() => {
      if (this.#plot.clientWidth !== this.#width) this.#draw();
    }).observe(this.#plot);
  }

  /** Show these points from now on. */
  show(fit) {
    if (this.#fit?.points === fit.points) return;
    this.#fit = fit;
    this.#image.setAttribute('aria-label', about(fit));
    this.#draw();
  }

  async #draw() {
    if (!this.#fit?.points.length || !this.#plot.clientWidth) return;
    await loadPlotly(this.#address);
    this.#width = this.#plot.clientWidth;
    const theme = readTheme();
    const { traces, layout } = drawing(this.#fit, theme);
    await window.Plotly.react(this.#plot, traces, chartLayout(theme, layout), this.#config);
    for (const svg of this.#plot.querySelectorAll('.main-svg')) svg.ariaHidden = 'true';
  }
}

/** What the chart shows, in words. */
function about(fit) {
  const [first, last, best] = [fit.points[0], fit.points.at(-1), bestOf(fit)];
  if (!first) return t('fitting.chart_empty');
  const alphas = { first: percent(first.alpha, 1), last: percent(last.alpha, 1), best: percent(best.alpha, 1) };
  return t('fitting.chart_about', { ...alphas, n: fit.points.length });
}

function drawing(fit, theme) {
  const [points, best] = [fit.points, bestOf(fit)];
  const color = theme.lanes[AFTER];
  const hovertemplate = '%{text}<extra></extra>';
  const told = (point) =>
    t('fitting.chart_mark', { alpha: percent(point.alpha, 1), seconds: decimals(point.seconds, 0), step: point.step });
  const line = {
    type: 'scatter',
    mode: 'lines+markers',
    x: points.map((point) => point.seconds),
    y: points.map((point) => point.alpha),
    text: points.map(told),
    line: { color, width: 2.5 },
    marker: { color, size: 6 },
    name: t('fitting.chart_alpha'),
    hovertemplate,
  };
  const star = {
    type: 'scatter',
    mode: 'markers',
    x: [best.seconds],
    y: [best.alpha],
    text: [told(best)],
    marker: { symbol: 'star', color: theme.ink, size: 14 },
    name: t('fitting.chart_best'),
    hovertemplate,
  };
  const top = Math.min(1.02, Math.max(0.1, best.alpha * HEADROOM));
  const end = Math.max(SHORTEST, points.at(-1).seconds * 1.03);
  return {
    traces: [line, star],
    layout: {
      height: HEIGHT_PX * theme.textScale,
      x: { title: { text: t('fitting.chart_seconds') }, range: [0, end] },
      y: { range: [0, top], tickformat: top > 0.3 ? '.0%' : '.1%' },
      margin: { l: 8, r: 8, t: LEGEND_PX * theme.textScale, b: 8 },
      showlegend: true,
      legend: {},
    },
  };
}

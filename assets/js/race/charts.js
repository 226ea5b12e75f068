// The live charts: loads plotly.js when they come into sight and redraws a few times a second.
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { Series } from './chart_series.js';
import { make } from '../core/dom.js';
import { loadPlotly } from '../core/plotly.js';
import { onThemeChange, readTheme } from '../core/theme.js';

/** Charts are redrawn one after the other, this far apart: 5 redraws/s in all. */
const REDRAW_MS = 200;
/** Redrawing may take this share of a slow browser's time while a race runs. */
const BUSY_SHARE = 0.1;
const ENDS = ['finished', 'stopped', 'error'];

/** Draw the charts and keep them up with the race. */
export function mountCharts(place, data, { store }) {
  const drawing = new Drawing(data.plotly);
  const row = make('div', 'sv-charts');
  row.append(...drawing.frames.map((frame) => frame.element));
  place.append(row);
  store.subscribe((items) => drawing.take(items));
}

/** Redraws what is in sight and out of date, each time one chart, so that none of them holds the page. */
class Drawing {
  frames;
  #address;
  #series = new Series();
  #isLive = false;
  #turn = 0;
  #readyAt = 0;
  #timer = 0;
  #frame = 0;
  #theme = null;

  constructor(address) {
    this.#address = address;
    this.frames = CHARTS.map((chart) => new ChartFrame(chart, this.#series, () => this.#ask()));
    const seen = new IntersectionObserver((entries) => this.#see(entries));
    for (const frame of this.frames) seen.observe(frame.element);
    onThemeChange(() => {
      this.#theme = null;
      this.#redraw();
    });
  }

  take(items) {
    for (const item of items) this.#series.take(item);
    if (items.some(({ k }) => k === 'reset' || k === 'start')) {
      for (const frame of this.frames) frame.fit();
    }
    if (items.some(({ k }) => k === 'round')) this.#isLive = true;
    if (items.some(({ k, state }) => k === 'status' && ENDS.includes(state))) this.#hurry();
    this.#redraw();
  }

  /** The race is over: nothing is held up any more by drawing its end. */
  #hurry() {
    this.#isLive = false;
    this.#readyAt = 0;
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  #redraw() {
    for (const frame of this.frames) frame.isStale = true;
    this.#ask();
  }

  async #see(entries) {
    for (const entry of entries) {
      this.frames.find((frame) => frame.element === entry.target).isSeen = entry.isIntersecting;
    }
    if (!this.frames.some((frame) => frame.isSeen)) return;
    await loadPlotly(this.#address);
    this.#ask();
  }

  #ask() {
    if (this.#timer || this.#frame || !window.Plotly || !this.#next()) return;
    const wait = Math.max(0, this.#readyAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#frame = requestAnimationFrame(() => this.#draw());
    }, wait);
  }

  /** The first chart in turn that has something new to show. */
  #next() {
    const inTurn = [...this.frames.slice(this.#turn), ...this.frames.slice(0, this.#turn)];
    return inTurn.find((frame) => frame.isSeen && frame.isStale);
  }

  #draw() {
    this.#frame = 0;
    const frame = this.#next();
    if (!frame) return;
    this.#turn = this.frames.indexOf(frame) + 1;
    const began = performance.now();
    this.#theme ??= readTheme();
    frame.draw(this.#theme);
    const cost = performance.now() - began;
    if (this.#isLive) this.#readyAt = began + Math.max(REDRAW_MS, cost / BUSY_SHARE);
    this.#ask();
  }
}

// The live charts: loads plotly.js when they come into sight and redraws a few times a second.
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { Series } from './chart_series.js';
import { make } from '../core/dom.js';
import { loadPlotly } from '../core/plotly.js';
import { onThemeChange, readTheme } from '../core/theme.js';

/** Each chart in sight stretches the time between two passes by this much: 5 redraws/s in all. */
const REDRAW_MS = 200;
/** A pass may take this share of a slow browser's time while a race runs. */
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

/** Redraws what is in sight and out of date, one chart a frame, so that none of them holds the page. */
class Drawing {
  frames;
  #address;
  #series = new Series();
  #queue = [];
  #passAt = 0;
  #passCost = 0;
  #isAsked = false;
  #timer = 0;
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
    if (items.some(({ k, state }) => k === 'status' && ENDS.includes(state))) this.#hurry();
    this.#redraw();
  }

  /** The race is over: nothing is held up any more by drawing its end. */
  #hurry() {
    this.#passCost = 0;
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#isAsked = false;
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
    if (this.#isAsked || !window.Plotly) return;
    this.#isAsked = true;
    const seen = this.frames.filter((frame) => frame.isSeen).length;
    const pause = Math.max(REDRAW_MS * seen, this.#passCost / BUSY_SHARE);
    const wait = Math.max(0, this.#passAt + pause - performance.now());
    this.#timer = setTimeout(() => this.#pass(), wait);
  }

  #pass() {
    this.#timer = 0;
    this.#passAt = performance.now();
    this.#passCost = 0;
    this.#theme ??= readTheme();
    this.#queue = this.frames.filter((frame) => frame.isSeen && frame.isStale);
    this.#next();
  }

  #next() {
    const frame = this.#queue.shift();
    if (!frame) {
      this.#isAsked = false;
      if (this.frames.some((each) => each.isSeen && each.isStale)) this.#ask();
      return;
    }
    requestAnimationFrame(() => {
      const began = performance.now();
      frame.draw(this.#theme);
      this.#passCost += performance.now() - began;
      this.#next();
    });
  }
}

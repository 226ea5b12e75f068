// The live charts: loads plotly.js when they come into sight and redraws a few times a second.
import { ChartFrame } from './chart_frame.js';
import { CHARTS } from './chart_specs.js';
import { wrap } from '../page/dom.js';
import { loadPlotly } from '../page/plotly.js';
import { onThemeChange, readTheme } from '../page/theme.js';

/** Charts are redrawn one after the other, this far apart: 5 redraws/s in all. */
const REDRAW_MS = 200;
/** Redrawing may take this share of a slow browser's time while a race runs. */
const BUSY_SHARE = 0.1;

/** Draw the charts and keep them up with the race. */
export function mountCharts(container, data, { playback }) {
  const drawing = new Drawing(data.plotly);
  container.append(wrap('div', 'sv-charts', ...drawing.frames.map((frame) => frame.element)));
  playback.follow((race, isNew) => drawing.take(race, isNew));
}

/** Redraws what is in sight and out of date, each time one chart, so that none of them holds the page. */
class Drawing {
  frames;
  #address;
  #isOpen = false;
  #isLive = false;
  #turn = 0;
  #readyAt = 0;
  #timer = 0;
  #frame = 0;
  #theme = null;

  constructor(address) {
    this.#address = address;
    this.frames = CHARTS.map((chart) => new ChartFrame(chart, () => this.#ask()));
    const seen = new IntersectionObserver((entries) => this.#see(entries));
    for (const frame of this.frames) seen.observe(frame.element);
    onThemeChange(() => {
      this.#theme = null;
      this.#redraw();
    });
  }

  take(race, isNew) {
    const hasLanes = race.lanes.length > 0;
    if (isNew || (hasLanes && !this.#isOpen)) for (const frame of this.frames) frame.open(race);
    this.#isOpen = hasLanes;
    if (race.isOver) this.#hurry();
    else this.#isLive = race.hasRounds;
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

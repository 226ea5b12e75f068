// The live charts: loads plotly.js when they come into sight and redraws a few times a second.
import { make } from './dom.js';
import { CHARTS, emptySeries, laneSeries } from './chart_specs.js';
import { CONFIG, loadPlotly } from './plotly.js';
import { onThemeChange, readTheme } from './theme.js';

const REDRAW_MS = 250;

/** Draw the charts and keep them up with the race. */
export function mountCharts(place, data, store) {
  const frames = CHARTS.map((chart) => {
    const box = make('figure', 'sv-chart');
    const plot = make('div', 'sv-plot', '', { role: 'img', 'aria-label': chart.about });
    box.append(make('figcaption', '', chart.title), plot);
    return { chart, box, plot, isSeen: false, isStale: true };
  });
  const row = make('div', 'sv-charts');
  row.append(...frames.map((frame) => frame.box));
  place.append(row);

  const drawing = new Drawing(frames, data.plotly);
  store.subscribe((items) => drawing.take(items));
}

class Drawing {
  #frames;
  #address;
  #series = emptySeries();
  #drawnAt = 0;
  #isAsked = false;
  #theme = null;
  #revision = 0;

  constructor(frames, address) {
    this.#frames = frames;
    this.#address = address;
    const seen = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: '0px' });
    for (const frame of frames) seen.observe(frame.box);
    onThemeChange(() => this.#retheme());
  }

  take(items) {
    for (const item of items) {
      if (item.k === 'reset') this.#series = emptySeries();
      else if (item.k === 'start') this.#series = item.lanes.map((lane) => laneSeries(lane.name));
      else if (item.k === 'round') this.#addPoint(this.#series[item.lane], item.point);
    }
    for (const frame of this.#frames) frame.isStale = true;
    this.#ask();
  }

  #addPoint(lane, [round, ms, tokens, share, alpha, speedup]) {
    lane.seconds.push(ms / 1000);
    lane.tokens.push(tokens);
    lane.round.push(round);
    lane.share.push(share);
    lane.alpha.push(alpha);
    lane.speedup.push(speedup);
  }

  async #see(entries) {
    for (const entry of entries) {
      const frame = this.#frames.find((each) => each.box === entry.target);
      frame.isSeen = entry.isIntersecting;
    }
    if (!this.#frames.some((frame) => frame.isSeen)) return;
    await loadPlotly(this.#address);
    this.#ask();
  }

  #retheme() {
    this.#theme = null;
    for (const frame of this.#frames) frame.isStale = true;
    this.#ask();
  }

  #ask() {
    if (this.#isAsked || !window.Plotly) return;
    this.#isAsked = true;
    const wait = Math.max(0, this.#drawnAt + REDRAW_MS - performance.now());
    setTimeout(() => requestAnimationFrame(() => this.#draw()), wait);
  }

  #draw() {
    this.#isAsked = false;
    this.#drawnAt = performance.now();
    this.#theme ??= readTheme();
    for (const frame of this.#frames) {
      if (!frame.isSeen || !frame.isStale) continue;
      frame.isStale = false;
      const { traces, layout } = frame.chart.draw(this.#series, this.#theme);
      // The arrays grow in place, so plotly has to be told that they changed.
      layout.datarevision = ++this.#revision;
      window.Plotly.react(frame.plot, traces, layout, CONFIG);
    }
  }
}

// The live charts: loads plotly.js when they come into sight and redraws a few times a second.
import { make } from './dom.js';
import { CHARTS, emptySeries, readTheme } from './chart_specs.js';

const REDRAW_MS = 250;
const CONFIG = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: '',
  modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
};

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
  #plotly = null;
  #theme = null;
  #revision = 0;

  constructor(frames, address) {
    this.#frames = frames;
    this.#address = address;
    const seen = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: '0px' });
    for (const frame of frames) seen.observe(frame.box);
    new MutationObserver(() => this.#retheme()).observe(document.body, {
      attributeFilter: ['class'],
    });
  }

  take(items) {
    for (const item of items) {
      if (item.k === 'reset') this.#series = emptySeries();
      else if (item.k === 'start') this.#series.names = item.lanes.map((lane) => lane.name);
      else if (item.k === 'round') this.#addPoint(item.lane, item.point);
    }
    for (const frame of this.#frames) frame.isStale = true;
    this.#ask();
  }

  #addPoint(lane, [round, ms, tokens, share, alpha, speedup]) {
    const series = this.#series;
    series.time[lane] ??= { x: [0], y: [0] };
    series.time[lane].x.push(ms / 1000);
    series.time[lane].y.push(tokens);
    if (lane !== 1) return;
    series.round.push(round);
    series.share.push(share);
    series.alpha.push(alpha);
    series.speedup.push(speedup);
  }

  async #see(entries) {
    for (const entry of entries) {
      const frame = this.#frames.find((each) => each.box === entry.target);
      frame.isSeen = entry.isIntersecting;
    }
    if (!this.#frames.some((frame) => frame.isSeen)) return;
    this.#plotly ??= load(this.#address);
    await this.#plotly;
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

function load(address) {
  const root = window.gradio_config?.root ?? '';
  return new Promise((resolve, reject) => {
    const script = make('script', '', '', { src: root + address });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('plotly.js could not be loaded')));
    document.head.append(script);
  });
}

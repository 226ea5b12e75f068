// Draws the charts of a panel: loads plotly.js when one comes into sight and redraws a few times a second.
import { loadPlotly } from '../page/plotly.js';
import { onThemeChange, readTheme } from '../page/theme.js';

/** Charts are redrawn one after the other, this far apart: 5 redraws/s in all. */
const REDRAW_MS = 200;
/** Redrawing may take this share of a slow browser's time while a race runs. */
const BUSY_SHARE = 0.1;
/** However dear a redraw was, the next one comes before a reader takes the last one for today's. */
const LONGEST_WAIT_MS = 1500;
/** While the charts beside the lanes go on, those below them follow this much apart. */
const BELOW_MS = 1000;

const drawings = new Map();

/** What draws all charts of a panel, wherever they stand, so that together they are not redrawn more often. */
export function drawingOf({ name, playback }, address) {
  if (!drawings.has(name)) {
    const drawing = new Drawing(address);
    drawings.set(name, drawing);
    playback.follow((race, isNew) => drawing.take(race, isNew));
  }
  return drawings.get(name);
}

/** Redraws what is in sight and out of date, each time one chart, so that none of them holds the page. */
class Drawing {
  #frames = [];
  /** When each chart was drawn last. */
  #drawnAt = new Map();
  #seen = new IntersectionObserver((entries) => this.#see(entries));
  #race = null;
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
    onThemeChange(() => {
      this.#theme = null;
      this.#redraw();
    });
  }

  /** Draw these charts too. */
  add(frames) {
    this.#frames.push(...frames);
    for (const frame of frames) {
      if (this.#race) frame.open(this.#race);
      this.#seen.observe(frame.element);
    }
  }

  /** Show a race as far as it has come. */
  take(race, isNew) {
    this.#race = race;
    const hasLanes = race.lanes.length > 0;
    if (isNew || (hasLanes && !this.#isOpen)) for (const frame of this.#frames) frame.open(race);
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
    for (const frame of this.#frames) frame.isStale = true;
    this.ask();
  }

  /** Load what draws, before anything is drawn. */
  load() {
    return loadPlotly(this.#address);
  }

  async #see(entries) {
    for (const entry of entries) {
      this.#frames.find((frame) => frame.element === entry.target).isSeen = entry.isIntersecting;
    }
    if (!this.#frames.some((frame) => frame.isSeen)) return;
    await this.load();
    this.ask();
  }

  /** Ask for one more drawing, as soon as it is its turn. */
  ask() {
    if (this.#timer || this.#frame || !window.Plotly || !this.#next()) return;
    const wait = Math.max(0, this.#readyAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#frame = requestAnimationFrame(() => this.#draw());
    }, wait);
  }

  /** The first chart in turn that has something new to show. */
  #next() {
    const inTurn = [...this.#frames.slice(this.#turn), ...this.#frames.slice(0, this.#turn)];
    const hasBeside = this.#isLive && inTurn.some((frame) => frame.isBeside && frame.isSeen);
    const now = performance.now();
    const isDue = (frame) => !hasBeside || frame.isBeside || now > (this.#drawnAt.get(frame) ?? 0) + BELOW_MS;
    return inTurn.find((frame) => frame.isSeen && frame.isStale && isDue(frame));
  }

  #draw() {
    this.#frame = 0;
    const frame = this.#next();
    if (!frame) return;
    this.#turn = this.#frames.indexOf(frame) + 1;
    const began = performance.now();
    this.#theme ??= readTheme();
    frame.draw(this.#theme);
    const isFirst = !this.#drawnAt.has(frame);
    this.#drawnAt.set(frame, began);
    // What is made anew costs much, but once.
    const cost = isFirst ? 0 : performance.now() - began;
    const wait = Math.min(LONGEST_WAIT_MS, Math.max(REDRAW_MS, cost / BUSY_SHARE));
    if (this.#isLive) this.#readyAt = began + wait;
    this.ask();
  }
}

// The clock strip: where the time of all lanes went, on one axis of device time.
import { ClockCursor } from './clock_cursor.js';
import { ClockPainter } from './clock_painter.js';
import { ClockRows, clockHead } from './clock_rows.js';
import { make, wrap } from '../page/dom.js';
import { pictureButtons } from '../page/element_picture.js';
import { decimals, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { onThemeChange, readTheme } from '../page/theme.js';

/** A race that goes on gets room ahead, so that what is drawn can stay where it is. */
const ROOM_AHEAD = 1.4;
const FIRST_MS = 500;
/** A zoom on the last rounds is set anew where it fits less well than this. */
const DRIFT = 1.25;
const END_MARK_PX = 3;
/** How many rounds the zoom on the last rounds shows. */
const RECENT_ROUNDS = 20;

/** Draw the strip and keep it up with the race. */
export function mountClock(container, data, { playback }) {
  const strip = new ClockStrip();
  container.append(strip.element);
  playback.follow((race, isNew) => strip.take(race, isNew));
}

class ClockStrip {
  #race = null;
  #lanes = [];
  #rows = new ClockRows();
  #cursor = new ClockCursor();
  #painter;
  #theme = null;
  #isWhole = true;
  #isSeen = false;
  #isAsked = false;
  #isFollowing = true;
  /** Where the strip scrolled by itself: any other place is the visitor's choice. */
  #placedAt = 0;
  /** How many rounds of each lane are painted; null where all must be painted anew. */
  #painted = null;
  #spanMs = FIRST_MS;

  constructor() {
    this.element = make('section', 'sv-clock', '', { 'aria-label': t('clock.title') });
    this.canvas = make('canvas', 'sv-clock-canvas', '', { role: 'img', 'aria-label': t('clock.title') });
    this.space = wrap('div', 'sv-clock-space', this.canvas);
    const about = { role: 'group', tabindex: '0', 'aria-label': t('clock.keys') };
    this.scroll = make('div', 'sv-clock-scroll', '', about);
    this.scroll.append(this.space);
    const body = wrap('div', 'sv-clock-body', this.scroll, this.#rows.element);
    const head = clockHead((isWhole) => this.#zoom(isWhole));
    // Below the strip: beside its title they would push it out of sight on a projector.
    const foot = wrap('div', 'sv-picture-head', this.#cursor.element, pictureButtons(body, 'clock', t('clock.title')));
    this.element.append(head, body, foot);
    this.#painter = new ClockPainter(this.canvas);
    this.#listen();
  }

  /** Show a race as far as it has come, with the next frame. */
  take(race, isNew) {
    this.#race = race;
    if (isNew || race.lanes.length !== this.#lanes.length) {
      this.#lanes = race.lanes;
      this.#rows.build(this.#lanes);
      this.#rows.measure();
      this.#spanMs = FIRST_MS;
      this.#isFollowing = true;
      this.#cursor.open(race);
      this.#painted = null;
    }
    this.#ask();
  }

  #zoom(isWhole) {
    this.#isWhole = isWhole;
    this.#isFollowing = true;
    this.#renew();
  }

  #listen() {
    onThemeChange(() => {
      this.#theme = null;
      this.#renew();
    });
    new ResizeObserver(() => {
      this.#rows.measure();
      this.#renew();
    }).observe(this.#rows.element);
    new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1).isIntersecting;
      this.#ask();
    }).observe(this.element);
    this.scroll.addEventListener('scroll', () => {
      const at = this.scroll.scrollLeft;
      if (Math.abs(at - this.#placedAt) < 1) return;
      this.#placedAt = at;
      this.#isFollowing = Math.abs(at - this.#followAt()) < END_MARK_PX;
      this.#renew();
    });
    for (const kind of ['pointermove', 'click']) {
      this.scroll.addEventListener(kind, (event) => this.#point(event));
    }
    this.scroll.addEventListener('keydown', (event) => this.#key(event));
  }

  #renew() {
    this.#painted = null;
    this.#ask();
  }

  #ask() {
    if (this.#isAsked || !this.#isSeen) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#draw();
    });
  }

  #draw() {
    const lanes = this.#lanes;
    this.#rows.show(lanes);
    this.canvas.setAttribute('aria-label', this.#rows.describe(lanes));
    if (this.#cursor.lane === null) this.#cursor.show();
    const isSame = this.#fit();
    if (!isSame || !this.#isWhole || this.#painted === null) this.#begin();
    const { edges } = this.#rows;
    lanes.forEach((lane, index) => {
      this.#painter.rounds(lane, edges[index], this.#painted[index]);
      this.#painted[index] = lane.rounds.length;
    });
    if (this.#cursor.lane !== null) this.#painter.frame(this.#cursor.round, edges[this.#cursor.lane]);
  }

  /** Set how much time the strip's width stands for; says whether it stayed as it was. */
  #fit() {
    const { endMs } = this.#race;
    const before = this.#spanMs;
    if (!this.#isWhole) {
      const wish = Math.min(recentMs(this.#lanes), endMs) || FIRST_MS;
      const isFar = Math.max(wish / before, before / wish) > DRIFT;
      this.#spanMs = isFar ? wish : before;
    } else if (this.#lanes.every((lane) => lane.hasEnded) && endMs) this.#spanMs = endMs;
    else if (endMs > before || this.#painted === null) {
      this.#spanMs = Math.max(FIRST_MS, endMs * ROOM_AHEAD);
    }
    return this.#spanMs === before;
  }

  #begin() {
    this.#theme ??= readTheme();
    const { width, height, axisTop } = this.#rows.size;
    this.#painter.resize(width, height);
    const spaceMs = Math.max(this.#spanMs, this.#race.endMs);
    this.space.style.width = this.#isWhole ? '100%' : `${spaceMs * this.#scale() + END_MARK_PX}px`;
    if (!this.#isWhole && this.#isFollowing) {
      this.scroll.scrollLeft = this.#followAt();
      this.#placedAt = this.scroll.scrollLeft;
    }
    const from = this.#from();
    this.#painter.begin(this.#theme, from, this.#scale(), { top: axisTop, label: timeLabel, finish });
    this.#painted = this.#lanes.map((lane) => Math.max(0, lane.roundAt(from)));
  }

  #scale() {
    return Math.max(1, this.#rows.size.width - END_MARK_PX) / this.#spanMs;
  }

  #from() {
    return this.#isWhole ? 0 : this.scroll.scrollLeft / this.#scale();
  }

  #followAt() {
    return Math.max(0, Math.round((this.#focusMs() - this.#spanMs) * this.#scale()));
  }

  /** Where the story is: the clock of the lanes that draft, which may end long before the other. */
  #focusMs() {
    return Math.max(0, ...this.#race.drafting.map((lane) => lane.clockMs)) || this.#race.endMs;
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    const lane = this.#rows.laneAt(event.clientY - box.top);
    const ms = this.#from() + (event.clientX - box.left) / this.#scale();
    if (lane >= 0 && this.#cursor.point(lane, ms)) this.#renew();
  }

  #key(event) {
    if (event.key === 'Escape') this.#cursor.clear();
    else if (this.#race.hasRounds && this.#cursor.move(event.key, this.#from())) {
      this.#reveal(this.#cursor.round);
    } else return;
    event.preventDefault();
    this.#renew();
  }

  #reveal({ startMs, endMs }) {
    if (this.#isWhole) return;
    const [left, right] = [startMs * this.#scale(), endMs * this.#scale()];
    const { width } = this.#rows.size;
    if (left < this.scroll.scrollLeft) this.scroll.scrollLeft = left - END_MARK_PX;
    else if (right > this.scroll.scrollLeft + width) this.scroll.scrollLeft = right - width + END_MARK_PX;
  }
}

/** How long the last rounds of the lane took whose rounds are longest. */
function recentMs(lanes) {
  const spans = lanes.map(({ rounds }) => {
    const recent = rounds.slice(-RECENT_ROUNDS);
    if (!recent.length) return 0;
    return ((recent.at(-1).endMs - recent[0].startMs) / recent.length) * RECENT_ROUNDS;
  });
  return Math.max(0, ...spans);
}

function timeLabel(ms) {
  return ms >= 1000 || ms === 0
    ? t('clock.seconds', { number: plain(ms / 1000, 2) })
    : t('clock.milliseconds', { number: plain(ms, 1) });
}

/** When a lane was done, as its flag says it. */
function finish(ms) {
  return t('clock.seconds', { number: decimals(ms / 1000, 2) });
}

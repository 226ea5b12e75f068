// The round of the clock strip that a visitor points at, by pointer or by keys, told in a line.
import { placeAt } from './clock_lanes.js';
import { make, setText } from '../core/dom.js';
import { t } from '../core/strings.js';

/** Walks the blocks of a `ClockLanes`; `element` tells the one that is pointed at. */
export class ClockCursor {
  #clock;
  #lane = null;
  #place = -1;

  constructor(clock) {
    this.#clock = clock;
    this.element = make('p', 'sv-clock-detail', '', { role: 'status' });
    this.clear();
  }

  /** The lane that is pointed at, or null. */
  get lane() {
    return this.#lane;
  }

  /** The block that is pointed at. */
  get block() {
    return this.#clock.lanes[this.#lane].blocks[this.#place];
  }

  /** Point at nothing. */
  clear() {
    this.#lane = null;
    this.#place = -1;
    this.tell();
  }

  /** Point at what a lane did at a time; says whether it did anything then. */
  point(lane, ms) {
    const place = placeAt(this.#clock.lanes[lane], ms);
    if (place < 0 || (lane === this.#lane && place === this.#place)) return false;
    return this.#set(lane, place);
  }

  /** Move as an arrow key says: along a lane by rounds, to the next lane at the same time. The first
   * key points at what the last lane did at `ms`. */
  move(key, ms) {
    const { lanes } = this.#clock;
    const lane = this.#lane ?? lanes.length - 1;
    const last = lanes[lane].blocks.length - 1;
    const place = this.#lane === null ? placeAt(lanes[lane], ms) - 1 : this.#place;
    const places = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: last };
    if (key in places) return this.#set(lane, Math.max(0, Math.min(last, places[key])));
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    const other = lanes[lane + step];
    if (!other?.blocks.length) return false;
    const middle = this.#lane === null ? ms : (this.block.start + this.block.end) / 2;
    const there = placeAt(other, middle);
    return this.#set(lane + step, there < 0 ? other.blocks.length - 1 : there);
  }

  /** Say what is pointed at, or what can be done. */
  tell() {
    if (this.#lane === null) {
      setText(this.element, t(this.#clock.isEmpty ? 'clock.empty' : 'clock.hint'));
      return;
    }
    const { name, isPlain } = this.#clock.lanes[this.#lane];
    const { round, ms, tokens } = this.block;
    const [draft, verify, other] = ms.map((each) => each.toFixed(1));
    const values = { lane: name, round, verify, other, n: tokens };
    setText(
      this.element,
      isPlain ? t('clock.block_plain', values) : t('clock.block', { ...values, draft }),
    );
  }

  #set(lane, place) {
    this.#lane = lane;
    this.#place = place;
    this.tell();
    return true;
  }
}

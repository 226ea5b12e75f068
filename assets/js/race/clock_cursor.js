// The round of the clock strip that a visitor points at, by pointer or by keys, told in a line.
import { laneName } from '../model/names.js';
import { make, setText } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Walks the rounds of a race; `element` tells the one that is pointed at. */
export class ClockCursor {
  #lanes = [];
  #lane = null;
  #index = -1;

  constructor() {
    this.element = make('p', 'sv-clock-detail', '', { role: 'status' });
    this.open([]);
  }

  /** The index of the lane that is pointed at, or null. */
  get lane() {
    return this.#lane;
  }

  /** The round that is pointed at. */
  get round() {
    return this.#lanes[this.#lane].rounds[this.#index];
  }

  /** Walk these lanes from now on. */
  open(lanes) {
    this.#lanes = lanes;
    this.clear();
  }

  /** Point at nothing. */
  clear() {
    this.#lane = null;
    this.#index = -1;
    this.show();
  }

  /** Point at what a lane did at a time; says whether it did anything then. */
  point(lane, ms) {
    const index = this.#lanes[lane].roundAt(ms);
    if (index < 0 || (lane === this.#lane && index === this.#index)) return false;
    return this.#set(lane, index);
  }

  /** Move as an arrow key says: along a lane by rounds, to the next lane at the same time. The first
   * key points at what the last lane did at `ms`. */
  move(key, ms) {
    const lane = this.#lane ?? this.#lanes.length - 1;
    const last = this.#lanes[lane].rounds.length - 1;
    const index = this.#lane === null ? this.#lanes[lane].roundAt(ms) - 1 : this.#index;
    const indexes = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: last };
    if (key in indexes) return this.#set(lane, Math.max(0, Math.min(last, indexes[key])));
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    const other = this.#lanes[lane + step];
    if (!other?.rounds.length) return false;
    const middle = this.#lane === null ? ms : (this.round.startMs + this.round.endMs) / 2;
    const there = other.roundAt(middle);
    return this.#set(lane + step, there < 0 ? other.rounds.length - 1 : there);
  }

  /** Say what is pointed at, or what can be done. */
  show() {
    if (this.#lane === null) {
      const isEmpty = !this.#lanes.some((lane) => lane.rounds.length);
      return setText(this.element, t(isEmpty ? 'clock.empty' : 'clock.hint'));
    }
    const lane = this.#lanes[this.#lane];
    const { number, times, facts } = this.round;
    const values = {
      lane: laneName(lane),
      round: number,
      draft: decimals(times.draft, 1),
      verify: decimals(times.verify, 1),
      other: decimals(times.other, 1),
      n: facts.emitted.length,
    };
    setText(this.element, t(lane.isBaseline ? 'clock.block_plain' : 'clock.block', values));
  }

  #set(lane, index) {
    this.#lane = lane;
    this.#index = index;
    this.show();
    return true;
  }
}

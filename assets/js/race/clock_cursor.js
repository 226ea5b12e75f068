// The round of the clock strip that a visitor points at, by pointer or by keys, told in a line.
import { inOrder, secondHalf, secondsOf } from '../model/finish.js';
import { laneName } from '../model/names.js';
import { make, setText } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Walks the rounds of a race; `element` tells the one that is pointed at. */
export class ClockCursor {
  #race = null;
  #lanes = [];
  #lane = null;
  #index = -1;

  constructor() {
    this.element = make('p', 'sv-clock-detail', '', { role: 'status' });
  }

  /** The index of the lane that is pointed at, or null. */
  get lane() {
    return this.#lane;
  }

  /** The round that is pointed at. */
  get round() {
    return this.#lanes[this.#lane].rounds[this.#index];
  }

  /** Walk a race's lanes from now on. */
  open(race) {
    this.#race = race;
    this.#lanes = race.lanes;
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
      return setText(this.element, this.#story());
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
    const told = t(lane.isBaseline ? 'clock.block_plain' : 'clock.block', values);
    setText(this.element, [told, ...aboutTree(this.round)].join(' '));
  }

  /** What there is to see where nothing is pointed at: who is done, and who still writes. */
  #story() {
    if (!this.#lanes.some((lane) => lane.rounds.length)) return t('clock.empty');
    const half = secondHalf(this.#race);
    if (half) {
      const { first, last, seconds, n } = half;
      const values = { lane: laneName(first), seconds, other: laneName(last), n };
      return t(last.isBaseline ? 'clock.half_alone' : 'clock.half', values);
    }
    const done = inOrder(this.#lanes).map((lane) =>
      t('clock.done_lane', { lane: laneName(lane), seconds: secondsOf(lane) }),
    );
    return [...(done.length ? [t('clock.done', { lanes: done.join(', ') })] : []), t('clock.hint')].join(' ');
  }

  #set(lane, index) {
    this.#lane = lane;
    this.#index = index;
    this.show();
    return true;
  }
}

/** What a round guessed, where that was a tree. */
function aboutTree({ isTree, tree, numKept }) {
  return isTree ? [t('clock.tree', { n: tree.numGuesses, levels: tree.numLevels, kept: numKept })] : [];
}

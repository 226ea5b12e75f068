// Where each lane's time went: a fold of a scene's items into blocks on one axis of device time.
import { tell } from '../core/strings.js';

const RECENT_ROUNDS = 20;

/** @typedef {{ round: number, start: number, end: number, ms: number[], tokens: number }} Block a round */

/** The blocks of every lane; times are in ms of the lane's own clock. */
export class ClockLanes {
  lanes = [];

  /** Take one item in; says whether what was drawn before no longer holds. */
  take(item) {
    if (item.k === 'reset') this.lanes = [];
    else if (item.k === 'start') this.lanes = item.lanes.map(emptyLane);
    else if (item.k === 'round') add(this.lanes[item.lane], item);
    else if (item.k === 'end') this.lanes[item.lane].hasEnded = true;
    else if (item.k === 'figures') {
      item.lanes.forEach(({ shares }, index) => Object.assign(this.lanes[index], { shares }));
    }
    return item.k === 'reset' || item.k === 'start';
  }

  /** Whether there is anything to draw. */
  get isEmpty() {
    return !this.lanes.some((lane) => lane.blocks.length);
  }

  get isOver() {
    return this.lanes.every((lane) => lane.hasEnded);
  }

  /** When the lane that took longest is done, as far as it has come. */
  get end() {
    return Math.max(0, ...this.lanes.map(clockOf));
  }

  /** Where the story is: the clock of the lanes that guess, which may end long before the other. */
  get focus() {
    const guessing = this.lanes.filter((lane) => !lane.isPlain);
    return Math.max(0, ...guessing.map(clockOf)) || this.end;
  }

  /** How long the last rounds of the lane took whose rounds are longest. */
  get recentMs() {
    const spans = this.lanes.map(({ blocks }) => {
      const last = blocks.slice(-RECENT_ROUNDS);
      return last.length ? ((last.at(-1).end - last[0].start) / last.length) * RECENT_ROUNDS : 0;
    });
    return Math.max(...spans);
  }
}

/** The place of the round that a lane was in at a time, or -1. */
export function placeAt({ blocks }, ms) {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle].end <= ms) low = middle + 1;
    else high = middle;
  }
  return low < blocks.length && ms >= 0 ? low : -1;
}

/** How far a lane's clock has come. */
export function clockOf({ blocks }) {
  return blocks.at(-1)?.end ?? 0;
}

function emptyLane({ name, plain }) {
  return { name: tell(name), isPlain: plain, blocks: [], tokens: 0, shares: [], hasEnded: false };
}

function add(lane, { point: [round, end, tokens], ms }) {
  lane.blocks.push({ round, start: clockOf(lane), end, ms, tokens: tokens - lane.tokens });
  lane.tokens = tokens;
}

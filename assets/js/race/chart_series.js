// The numbers behind the charts: a fold of a scene's items into one record a lane.
import { tell } from '../core/strings.js';

/** What the charts know of a race; every number is the server's. */
export class Series {
  lanes = [];
  /** Counts the races, so that a zoom ends with its race. */
  race = 0;

  /** Take one item in; items that charts do not show are passed over. */
  take(item) {
    if (item.k === 'reset') this.#begin([]);
    else if (item.k === 'start') this.#begin(item.lanes);
    else if (item.k === 'round') this.#addRound(this.lanes[item.lane], item);
    else if (item.k === 'figures') {
      item.lanes.forEach(({ spread }, index) => {
        if (spread) this.lanes[index].spread = spread;
      });
    }
  }

  /** The lanes that guess. */
  get guessing() {
    return this.lanes.filter((lane) => !lane.isPlain);
  }

  #begin(lanes) {
    this.race += 1;
    this.lanes = lanes.map((lane, index) => emptyLane(lane, index));
  }

  #addRound(lane, { point, gamma, ms }) {
    const [round, clock, tokens, share, alpha, speedup, kept] = point;
    const values = { round, share, alpha, speedup, kept, gamma, seconds: clock / 1000, tokens };
    [values.draft, values.verify, values.other] = ms;
    for (const [name, value] of Object.entries(values)) lane[name].push(value);
  }
}

function emptyLane({ name, plain }, index) {
  const lane = { name: tell(name), isPlain: plain, index, spread: null };
  for (const each of ['round', 'share', 'alpha', 'speedup', 'kept', 'gamma']) lane[each] = [];
  for (const each of ['draft', 'verify', 'other']) lane[each] = [];
  // Both lines begin where the clocks do.
  return { ...lane, seconds: [0], tokens: [0] };
}

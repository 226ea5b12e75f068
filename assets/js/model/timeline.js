// What a race has done and the page has not shown yet, in order, each part with its time on the lanes' clocks.

/**
 * A part of a packet: one event, or figures, or a status.
 * @param {import('./race.js').Packet} packet
 * @returns {import('./race.js').Part[]}
 */
export function partsOf({ events = [], figures, status }) {
  /** @type {import('./race.js').Part[]} */
  const parts = events.map((event) => ({ event }));
  if (figures) parts.push({ figures });
  if (status) parts.push({ status });
  return parts;
}

/** Hands parts out: all at once, those whose time has come, or one round of a lane that drafts. */
export class Timeline {
  #queue = [];
  #now = 0;
  /** The time of the last part that was added. */
  #end = 0;
  #clocks = [];
  #drafts = [];

  get isEmpty() {
    return this.#queue.length === 0;
  }

  /** Whether a whole round of a lane that drafts waits. */
  get hasStep() {
    return this.#queue.some(({ part }) => this.#endsStep(part));
  }

  /** Begin anew. */
  clear() {
    this.#queue = [];
    this.#now = this.#end = 0;
    this.#clocks = [];
  }

  /** Take a packet in: a round comes when its lane's clock has come so far, all else with it. */
  add(packet) {
    for (const part of partsOf(packet)) {
      this.#time(part.event);
      this.#queue.push({ part, at: this.#end });
    }
  }

  /** Let the clock go on by so many ms. */
  advance(ms) {
    this.#now += ms;
  }

  /** Hand out everything. */
  takeAll() {
    this.#now = this.#end;
    return this.#queue.splice(0).map(({ part }) => part);
  }

  /** Hand out what the clock has reached. */
  takeDue() {
    return this.#takeWhile(({ at }) => at <= this.#now);
  }

  /**
   * Hand out what comes until a round of a lane that drafts is over, its figures included; `isWhole`
   * says whether there was such a round.
   */
  takeStep() {
    let isWhole = false;
    const parts = this.#takeWhile(({ part, at }) => {
      if (isWhole && part.event?.event === 'RoundFinished') return false;
      this.#now = Math.max(this.#now, at);
      isWhole ||= this.#endsStep(part);
      return true;
    });
    return { parts, isWhole };
  }

  #time(event) {
    if (event?.event === 'RaceStarted') {
      this.#clocks = event.specs.map(() => 0);
      this.#drafts = event.specs.map((spec) => spec.method !== 'baseline');
    } else if (event?.event === 'RoundFinished') {
      const { draft_ms: draft, verify_ms: verify, other_ms: other } = event.round;
      this.#clocks[event.lane] += draft + verify + other;
      this.#end = Math.max(this.#end, this.#clocks[event.lane]);
    }
  }

  #takeWhile(isWanted) {
    const parts = [];
    while (this.#queue.length && isWanted(this.#queue[0])) parts.push(this.#queue.shift().part);
    return parts;
  }

  #endsStep({ event }) {
    return event?.event === 'RoundFinished' && this.#drafts[event.lane];
  }
}

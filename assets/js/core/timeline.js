// What a race has done and the page has not shown yet, in order, each item with its time on the lanes' clocks.

/** Hands items out: all at once, those whose time has come, or one round of a lane that guesses. */
export class Timeline {
  #queue = [];
  #clock = 0;
  /** Whether each lane of the race is the target alone. */
  #plain = [];

  get isEmpty() {
    return this.#queue.length === 0;
  }

  /** Whether a whole round of a lane that guesses waits. */
  get hasStep() {
    return this.#queue.some(({ item }) => this.#endsStep(item));
  }

  /** Begin anew. */
  clear() {
    this.#queue = [];
    this.#clock = 0;
    this.#plain = [];
  }

  /** Take an item in whose time is `ms`, or else that of its round. */
  add(item, ms) {
    if (item.k === 'start') this.#plain = item.lanes.map((lane) => lane.plain);
    this.#queue.push({ item, at: ms ?? (item.k === 'round' ? item.point[1] : 0) });
  }

  /** Let the clock go on. */
  advance(ms) {
    this.#clock += ms;
  }

  /** Hand out everything. */
  takeAll() {
    return this.#queue.splice(0).map(({ item }) => item);
  }

  /** Hand out what the clock has reached. */
  takeDue() {
    return this.#takeWhile(({ at }) => at <= this.#clock);
  }

  /** While a race is held, only the word that another begins is handed out. */
  takeResets() {
    return this.#takeWhile(({ item }) => item.k === 'reset');
  }

  /**
   * Hand out what comes until a round of a lane that guesses is over, the figures and the story of
   * that round included; `isWhole` says whether there was such a round.
   */
  takeStep() {
    let isWhole = false;
    const items = this.#takeWhile(({ item, at }) => {
      if (isWhole && item.k === 'round') return false;
      this.catchUp(at);
      isWhole ||= this.#endsStep(item);
      return true;
    });
    return { items, isWhole };
  }

  /** What happened at this time is shown already, however it came to be. */
  catchUp(ms) {
    this.#clock = Math.max(this.#clock, ms);
  }

  #takeWhile(isWanted) {
    const items = [];
    while (this.#queue.length && isWanted(this.#queue[0])) items.push(this.#queue.shift().item);
    return items;
  }

  #endsStep(item) {
    return item.k === 'round' && this.#plain[item.lane] === false;
  }
}

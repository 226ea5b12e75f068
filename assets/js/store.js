// Holds what happened in the page's race as a list of items; every view is a fold over that list.

/**
 * Items arrive in packets, in order and without gaps. A view that is mounted late is given the whole
 * list first, so it shows what the others show.
 */
export class Store {
  #listeners = [];
  #items = [];
  #past = new Set();
  run = null;
  next = 0;

  /** Call `listener(items)` for all items so far and then for each packet. */
  subscribe(listener) {
    this.#listeners.push(listener);
    if (this.#items.length) listener(this.#items);
  }

  /** Whether packets of this run still count. */
  isCurrent(run) {
    return !this.#past.has(run);
  }

  /** Begin a run: what was shown before goes away. */
  open(run) {
    if (this.run !== null) this.#past.add(this.run);
    this.run = run;
    this.next = 0;
    this.#items = [];
    this.#deliver([{ k: 'reset' }]);
  }

  /** Take a packet in, unless it was taken already. */
  add(packet) {
    if (packet.run !== this.run || packet.seq < this.next) return;
    this.next = packet.seq + 1;
    this.#deliver(packet.items);
  }

  #deliver(items) {
    this.#items.push(...items);
    for (const listener of this.#listeners) {
      try {
        listener(items);
      } catch (error) {
        console.error('a view failed', error);
      }
    }
  }
}

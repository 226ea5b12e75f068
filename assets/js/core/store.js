// Holds what the page shows of a scene's race as a list of items; every view is a fold over that list.

/** A view that is mounted late is given the whole list first, so it shows what the others show. */
export class Store {
  #listeners = [];
  #items = [];

  /** Call `listener(items)` for all items so far and then for each delivery. */
  subscribe(listener) {
    this.#listeners.push(listener);
    if (this.#items.length) this.#tell(listener, this.#items);
  }

  /** Begin a race: what was shown before goes away. */
  clear() {
    this.#items = [];
    this.deliver([{ k: 'reset' }]);
  }

  /** Show more. */
  deliver(items) {
    this.#items.push(...items);
    for (const listener of this.#listeners) this.#tell(listener, items);
  }

  #tell(listener, items) {
    try {
      listener(items);
    } catch (error) {
      console.error('a view failed', error);
    }
  }
}

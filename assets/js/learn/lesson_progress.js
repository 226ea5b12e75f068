// Which lessons were done, remembered from one visit to the next.
import { LESSONS } from './lessons.js';
import { remember, remembered } from '../core/memory.js';

const KEY = 'specviz-lessons';

class Progress {
  #done = new Set(readDone());
  #listeners = [];

  /** Whether a lesson was done. */
  has(id) {
    return this.#done.has(id);
  }

  /** How many were done. */
  get count() {
    return this.#done.size;
  }

  /** The first lesson that was not done, else null. */
  get next() {
    return LESSONS.find((lesson) => !this.has(lesson.id)) ?? null;
  }

  /** Note that a lesson was done. */
  add(id) {
    this.#done.add(id);
    this.#keep();
  }

  /** Forget all. */
  clear() {
    this.#done.clear();
    this.#keep();
  }

  /** Call `listener()` now and whenever something was done or forgotten. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener();
  }

  #keep() {
    remember(KEY, [...this.#done].join(' '));
    for (const listener of this.#listeners) listener();
  }
}

function readDone() {
  const known = LESSONS.map((lesson) => lesson.id);
  return (remembered(KEY) ?? '').split(' ').filter((id) => known.includes(id));
}

export const progress = new Progress();

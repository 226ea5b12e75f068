// Long work at the server beside races, such as a sweep: begins it, asks for its news, ends it.
import { VISIT, remember, remembered } from '../page/memory.js';
import { ask } from './server.js';

/** How often news is asked for, in milliseconds. */
const LOOK_MS = 400;

/** @typedef {'idle' | 'starting' | 'running' | 'finished' | 'stopped' | 'error'} TaskState */

/** One kind of work of this page, of which one piece is done at a time. */
export class Task {
  /** @type {TaskState} */
  state = 'idle';
  /** Why it failed, as a text or a message; null where it did not. */
  text = null;
  #kind;
  #id = null;
  #next = 0;
  #onNews;
  #onState;
  #lookMs;

  /** `onNews(items)` is told what is new, in order; `onState(task)` that the task stands otherwise. */
  constructor(kind, { onNews, onState, lookMs = LOOK_MS }) {
    this.#kind = kind;
    this.#onNews = onNews;
    this.#onState = onState;
    this.#lookMs = lookMs;
  }

  /** Whether it goes on. */
  get isBusy() {
    return this.state === 'starting' || this.state === 'running';
  }

  /** Begin with what the form says. Ends when the work does; says whether it was begun. */
  async start(form) {
    if (this.isBusy) return false;
    this.#turn('starting');
    const { id, error } = await ask('task_start', this.#kind, form);
    if (error) {
      this.#turn('error', error);
      return false;
    }
    remember(this.#key, id, VISIT);
    await this.#follow(id);
    return true;
  }

  /** Go on with what this visit has begun, after a reload. */
  async restore() {
    const id = remembered(this.#key, VISIT);
    if (id && !this.isBusy) await this.#follow(id, true);
  }

  /** Ask the work to end; what it has told stays. */
  async stop() {
    if (this.isBusy && this.#id !== null) await ask('task_stop', this.#id);
  }

  get #key() {
    return `specviz-task-${this.#kind}`;
  }

  async #follow(id, isRestored = false) {
    this.#id = id;
    this.#next = 0;
    this.#turn('running');
    while (this.isBusy) {
      const { state, text, news, error } = await ask('task_news', id, this.#next);
      if (error) {
        remember(this.#key, '', VISIT);
        this.#turn(isRestored && !this.#next ? 'idle' : 'error', error);
        return;
      }
      this.#next += news.length;
      if (news.length) this.#onNews(news);
      if (state !== 'running') this.#turn(state, text ?? null);
      else await new Promise((resolve) => setTimeout(resolve, this.#lookMs));
    }
  }

  #turn(state, text = null) {
    this.state = state;
    this.text = text;
    this.#onState(this);
  }
}

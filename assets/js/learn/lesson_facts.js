// The numbers of a real race that the lessons speak with, and where they come from.
import { ask } from '../core/server.js';

let shared = null;

/** The facts of this page; the first call gives the data they begin with. */
export function factsOf(data, scene) {
  shared ??= new Facts(data, scene);
  return shared;
}

/** Follows the races of a scene: the newest one with numbers counts, at first a recorded one. */
class Facts {
  #parameters;
  #listeners = [];
  /** What a race measured (`specviz/ui/measured.py`), or null. */
  measured;
  /** `live`, `played` (a recording on this page) or `shipped`. */
  source = 'shipped';

  constructor(data, { store, pacer }) {
    this.#parameters = data.parameters;
    this.measured = data.measured;
    store.subscribe((items) => {
      if (items.some((item) => item.k === 'status' && item.state === 'finished')) this.#read(pacer);
    });
  }

  /** Call `listener(facts)` now and after every finished race. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener(this);
  }

  /** Weights of the target that was measured, else null. */
  get numParameters() {
    return this.#parameters[this.measured?.target] ?? null;
  }

  /** Megabytes that one pass reads, else null. */
  get megabytes() {
    const { numParameters, measured } = this;
    return numParameters && measured.weight_bytes
      ? (numParameters * measured.weight_bytes) / 1e6
      : null;
  }

  /** Gigabytes of weights that a plain pass reads in a second, else null. */
  get gigabytesASecond() {
    return this.megabytes && this.measured.step_ms ? this.megabytes / this.measured.step_ms : null;
  }

  /** The first lane of which α, c and v are known, else null. */
  get lane() {
    const isKnown = (lane) => lane.alpha !== null && lane.draft_cost !== null && lane.verify_cost;
    return this.measured?.lanes.find(isKnown) ?? null;
  }

  async #read({ recording, run }) {
    const measured = recording ? recording.measured : await ask('measured', run);
    if (measured && !measured.error) {
      this.measured = measured;
      this.source = recording ? 'played' : 'live';
    }
    for (const listener of this.#listeners) listener(this);
  }
}

// A scene's race as a book: its lanes, their rounds, and the text that stood before each.

const LONGEST_TAIL = 400;

/** Folds the items of a race; knows nothing of what is looked at. */
export class Book {
  start = null;
  lanes = [];
  /** What a plain step of the target alone takes in this race, in ms as the server says it. */
  plainStep = null;

  /** Take one item in. */
  take(item) {
    if (item.k === 'reset') this.#open(null, []);
    else if (item.k === 'start') this.#open(item, item.lanes.map(newLane));
    else if (item.k === 'round') add(this.lanes[item.lane], item);
    else if (item.k === 'figures') this.#setPlainStep(item.lanes);
  }

  /** Places of the lanes that guess. */
  guessing() {
    return this.lanes.flatMap(({ spec }, place) => (spec.plain ? [] : [place]));
  }

  /** The last words before a round, the prompt's and the output's apart. */
  before(lane, round, numWords) {
    const { text, starts } = this.lanes[lane];
    const written = text.slice(0, starts[round]);
    const all = this.start.prompt + written;
    const kept = lastWords(all, numWords);
    const output = kept.slice(Math.max(0, kept.length - written.length));
    return {
      isCut: kept.length < all.length,
      prompt: kept.slice(0, kept.length - output.length),
      output,
    };
  }

  /** The plain steps that wrote the same places of the output as a round; fewer in mid-race. */
  plainSteps(round) {
    const alone = this.lanes.find(({ spec }) => spec.plain);
    const places = written(round).map((token) => token.i);
    return alone ? alone.rounds.slice(places[0], places.at(-1) + 1) : [];
  }

  #open(start, lanes) {
    this.start = start;
    this.lanes = lanes;
    this.plainStep = null;
  }

  #setPlainStep(figures) {
    const speedup = figures.find((lane) => lane.speedup)?.speedup;
    this.plainStep = speedup?.[5] ?? null;
  }
}

/** The tokens of a round that are part of the output, in its order. */
export function written(round) {
  return round.tokens.filter((token) => token.i !== undefined);
}

function newLane(spec) {
  return { spec, rounds: [], starts: [], text: '' };
}

function add(lane, round) {
  lane.rounds.push(round);
  lane.starts.push(lane.text.length);
  lane.text += written(round).map((token) => token.t).join('');
}

function lastWords(text, numWords) {
  // The parts are a word, a space, a word, …
  const parts = text.slice(-LONGEST_TAIL).split(/(\s+)/);
  return parts.slice(-2 * numWords).join('');
}

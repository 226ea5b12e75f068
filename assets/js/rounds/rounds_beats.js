// The beats of one round: each guess, the one pass, each decision, and what the target added.

export const STAGES = ['draft', 'verify', 'decide'];

const GUESSED = new Set(['accepted', 'rejected', 'discarded']);
const JUDGED = new Set(['accepted', 'rejected']);

/**
 * Says what is known at each beat of a round. With 2 guesses of which the first is rejected: beat 0
 * nothing, 1 and 2 the guesses, 3 the pass, 4 the first decision (the other guess falls with it),
 * 5 the correction.
 */
export class Beats {
  #chances;

  constructor(round, outcomes) {
    this.#chances = round.tokens.map((token) => token.a ?? 1);
    this.fates = round.tokens.map((token) => outcomes[token.f].name);
    const places = [...this.fates.keys()];
    /** Places of the guesses, of those that were judged, and of what the target added. */
    this.guessed = places.filter((place) => GUESSED.has(this.fates[place]));
    this.judged = places.filter((place) => JUDGED.has(this.fates[place]));
    this.added = places.filter((place) => !GUESSED.has(this.fates[place]));
    const pass = this.guessed.length + 1;
    const end = pass + this.judged.length + (this.added.length ? 1 : 0);
    /** The last beat of each stage. */
    this.ends = [this.guessed.length, pass, end];
  }

  /** The beat at which all is known. */
  get last() {
    return this.ends[2];
  }

  /** Which stage a beat belongs to: 0 draft, 1 verify, 2 decide. */
  stageOf(beat) {
    return this.ends.findIndex((end) => beat <= end);
  }

  /** What is known of a token at a beat: 'nothing', 'guessed', 'checked' or 'decided'. */
  knownOf(place, beat) {
    if (beat >= this.decidedAt(place)) return 'decided';
    if (!this.guessed.includes(place)) return 'nothing';
    if (beat >= this.ends[1]) return 'checked';
    return beat > this.guessed.indexOf(place) ? 'guessed' : 'nothing';
  }

  /** The beat at which the fate of a token is told. */
  decidedAt(place) {
    if (this.added.includes(place)) return this.last;
    const turn = this.judged.indexOf(place);
    return this.ends[1] + (turn < 0 ? this.judged.length : turn + 1);
  }

  /** The token that a beat is about, if it is about one. */
  placeAt(beat) {
    if (beat <= this.ends[0]) return this.guessed[beat - 1];
    return [...this.judged, ...this.added][beat - this.ends[1] - 1];
  }

  /** The token worth a look first: what was rejected, else the narrowest escape, else what came. */
  telling() {
    const rejected = this.fates.lastIndexOf('rejected');
    if (rejected >= 0) return rejected;
    const chanceOf = (place) => this.#chances[place];
    return this.judged.toSorted((a, b) => chanceOf(a) - chanceOf(b))[0] ?? this.added[0];
  }
}

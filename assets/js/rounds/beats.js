// The beats of one round: each guess, the one pass, each decision, and what the target added.

export const STAGES = ['draft', 'verify', 'decide'];

/**
 * Says what is known at each beat of a round. With 2 guesses of which the first is rejected: beat 0
 * nothing, 1 and 2 the guesses, 3 the pass, 4 the first decision (the other guess falls with it),
 * 5 the correction.
 */
export class Beats {
  #tokens;

  /** @param {import('../model/race.js').Round} round */
  constructor({ tokens }) {
    this.#tokens = tokens;
    this.fates = tokens.map((token) => token.fate.name);
    const indices = [...tokens.keys()];
    /** Indices of the guesses, of those that were judged, and of what the target added. */
    this.guessed = indices.filter((index) => tokens[index].fate.isGuess);
    this.judged = indices.filter((index) => tokens[index].fate.isJudged);
    this.added = indices.filter((index) => !tokens[index].fate.isGuess);
    const pass = this.guessed.length + 1;
    const end = pass + this.judged.length + (this.added.length ? 1 : 0);
    /** The last beat of each stage. */
    this.ends = [this.guessed.length, pass, end];
  }

  /** The beat at which all is known. */
  get last() {
    return this.ends[2];
  }

  /** Indices of the guesses that were kept. */
  get kept() {
    return this.judged.filter((index) => this.fates[index] === 'accepted');
  }

  /** Which stage a beat belongs to: 0 draft, 1 verify, 2 decide. */
  stageOf(beat) {
    return this.ends.findIndex((end) => beat <= end);
  }

  /**
   * What is known of a token at a beat.
   * @returns {import('../evidence/decision.js').Known}
   */
  knownOf(index, beat) {
    if (beat >= this.decidedAt(index)) return 'decided';
    if (!this.#tokens[index].fate.isGuess) return 'nothing';
    if (beat >= this.ends[1]) return 'checked';
    return beat > this.guessed.indexOf(index) ? 'guessed' : 'nothing';
  }

  /** The beat at which the fate of a token is told. */
  decidedAt(index) {
    if (!this.#tokens[index].fate.isGuess) return this.last;
    const turn = this.judged.indexOf(index);
    return this.ends[1] + (turn < 0 ? this.judged.length : turn + 1);
  }

  /** The token that a beat is about, if it is about one. */
  indexAt(beat) {
    if (beat <= this.ends[0]) return this.guessed[beat - 1];
    return [...this.judged, ...this.added][beat - this.ends[1] - 1];
  }

  /** The token worth a look first: what was rejected, else the narrowest escape, else what came. */
  telling() {
    const rejected = this.fates.lastIndexOf('rejected');
    if (rejected >= 0) return rejected;
    const chanceOf = (index) => this.#tokens[index].accept_prob ?? 1;
    return this.judged.toSorted((a, b) => chanceOf(a) - chanceOf(b))[0] ?? this.added[0] ?? 0;
  }
}

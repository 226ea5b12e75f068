// The beats of one round: each level of guesses, the one pass, each decision, and what the target added.

export const STAGES = ['draft', 'verify', 'decide'];

/**
 * Says what is known at each beat of a round. With a chain of 2 guesses of which the first is rejected:
 * beat 0 nothing, 1 and 2 the guesses, 3 the pass, 4 the first decision (the other guess falls with it),
 * 5 the correction. The guesses of one level of a tree come at one beat.
 */
export class Beats {
  #tokens;
  #tree;

  /** @param {{ tokens: import('../model/race.js').Token[], tree: import('../model/tree.js').TokenTree }} round */
  constructor({ tokens, tree }) {
    this.#tokens = tokens;
    this.#tree = tree;
    this.fates = tokens.map((token) => token.fate.name);
    const indices = [...tokens.keys()];
    /** Indices of the guesses, of those that were judged, and of what the target added. */
    this.guessed = indices.filter((index) => tokens[index].fate.isGuess);
    this.judged = indices.filter((index) => tokens[index].fate.isJudged);
    this.added = indices.filter((index) => !tokens[index].fate.isGuess);
    const pass = tree.numLevels + 1;
    const end = pass + this.judged.length + (this.added.length ? 1 : 0);
    /** The last beat of each stage. */
    this.ends = [tree.numLevels, pass, end];
  }

  /** The beat at which all is known. */
  get last() {
    return this.ends[2];
  }

  /** Indices of the guesses that were kept. */
  get kept() {
    return this.#tree.path;
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
    return beat >= this.#tree.levels[index] ? 'guessed' : 'nothing';
  }

  /** The beat at which the fate of a token is told: its own decision, or the one that settled it. */
  decidedAt(index) {
    const { isGuess, isJudged } = this.#tokens[index].fate;
    if (!isGuess) return this.last;
    const by = isJudged ? index : this.#tree.settledBy(index)?.by;
    return this.ends[1] + (by === undefined ? this.judged.length : this.judged.indexOf(by) + 1);
  }

  /** The token that a beat is about, if it is about one. */
  indexAt(beat) {
    if (beat <= this.ends[0]) return this.guessed.find((index) => this.#tree.levels[index] === beat);
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

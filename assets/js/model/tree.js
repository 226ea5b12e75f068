// A round's tokens as a tree: who follows whom, which siblings are tried first, and what settled each fate.

/** What follows the last committed token has no parent among a round's tokens. */
export const ROOT = -1;

/**
 * The tree of a round; a chain is a tree with one branch. Tokens go by their indices in the round.
 * Siblings stand in the order in which the target tries them. What the target added follows the last
 * guess that was kept, after the guesses that stood there.
 */
export class TokenTree {
  #tokens;
  #children;

  /** @param {import('./race.js').Token[]} tokens */
  constructor(tokens) {
    this.#tokens = tokens;
    /** Indices of the guesses that were kept, from the root on. */
    this.path = indicesOf(tokens, ({ fate }) => fate.name === 'accepted');
    /** Indices of what the target added. */
    this.added = indicesOf(tokens, ({ fate }) => !fate.isGuess);
    const end = this.path.at(-1) ?? ROOT;
    this.parents = tokens.map((token) => (token.fate.isGuess ? token.parent ?? ROOT : end));
    this.#children = Array.from({ length: tokens.length + 1 }, () => /** @type {number[]} */ ([]));
    /** How many steps from the last committed token each token is, at least 1. */
    this.levels = /** @type {number[]} */ ([]);
    this.parents.forEach((parent, index) => {
      this.#children[parent + 1].push(index);
      this.levels.push(parent === ROOT ? 1 : this.levels[parent] + 1);
    });
    const guesses = indicesOf(tokens, ({ fate }) => fate.isGuess);
    this.numGuesses = guesses.length;
    /** The level of the guess that is farthest from the root. */
    this.numLevels = Math.max(0, ...guesses.map((index) => this.levels[index]));
    /** Guesses that no other guess follows. */
    this.numBranches = guesses.filter((index) => !this.#guessesAfter(index).length).length;
  }

  /** The tokens that follow one, or the root, in the order in which they are tried. */
  childrenOf(index) {
    return this.#children[index + 1];
  }

  /** The tokens that follow the same token as one, itself among them. */
  siblingsOf(index) {
    return this.childrenOf(this.parents[index]);
  }

  /** The siblings that were thrown away before a token was tried. */
  rejectedBefore(index) {
    const siblings = this.siblingsOf(index);
    return siblings.slice(0, siblings.indexOf(index)).filter((each) => this.#fateOf(each) === 'rejected');
  }

  /**
   * Which judged token settled that a guess is never judged: it follows one that was thrown away
   * (`below`), or it or a token that it follows stood beside one that was kept (`beside`). Null where
   * neither did, since the text ended.
   * @returns {{ why: 'below' | 'beside', by: number } | null}
   */
  settledBy(index) {
    for (let at = index; at !== ROOT; at = this.parents[at]) {
      if (at !== index && this.#fateOf(at) === 'rejected') return { why: 'below', by: at };
      const kept = this.siblingsOf(at).find((each) => this.#fateOf(each) === 'accepted');
      if (kept !== undefined && kept !== at) return { why: 'beside', by: kept };
    }
    return null;
  }

  /** The tokens of each level, as they stand one below the other. */
  columns() {
    const columns = /** @type {number[][]} */ ([]);
    this.#visit(ROOT, (index) => {
      (columns[this.levels[index] - 1] ??= []).push(index);
    });
    return columns;
  }

  /**
   * The token that a key leads to: up and down among those of one level, siblings first, left to the
   * one that it follows, right to the first that follows it. The same where there is none that `isShown`;
   * null for any other key.
   */
  step(index, key, isShown) {
    const column = () => this.columns()[this.levels[index] - 1].filter(isShown);
    const ways = {
      ArrowUp: () => column()[column().indexOf(index) - 1],
      ArrowDown: () => column()[column().indexOf(index) + 1],
      ArrowLeft: () => (this.parents[index] === ROOT ? undefined : this.parents[index]),
      ArrowRight: () => this.childrenOf(index).find(isShown),
      Home: () => this.childrenOf(ROOT).find(isShown),
      End: () => this.parents.findLastIndex((_, each) => isShown(each)),
    };
    return Object.hasOwn(ways, key) ? ways[key]() ?? index : null;
  }

  #visit(node, see) {
    for (const child of this.childrenOf(node)) {
      see(child);
      this.#visit(child, see);
    }
  }

  #fateOf(index) {
    return this.#tokens[index].fate.name;
  }

  #guessesAfter(index) {
    return this.childrenOf(index).filter((each) => this.#tokens[each].fate.isGuess);
  }
}

function indicesOf(tokens, isWanted) {
  return [...tokens.keys()].filter((index) => isWanted(tokens[index]));
}

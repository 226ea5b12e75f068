// The tokens of a round, one beside the other; a tree of guesses is drawn as one.
import { make } from '../core/dom.js';
import { TokenCard } from './rounds_card.js';
import { layTree } from './rounds_tree.js';
import { t } from '../core/strings.js';

/** Draws the cards of the round that is open, as far as its beat allows. */
export class Cards {
  #reader;
  #outcomes;
  #round = null;
  #beat = 0;
  #cards = [];
  #edges = [];

  constructor(reader, outcomes) {
    this.#reader = reader;
    this.#outcomes = outcomes;
    this.element = make('div', 'sv-round-cards', '', { role: 'group', 'aria-label': t('rounds.cards') });
  }

  /** Draw the open round; while its beats go on, only what is new appears. */
  update() {
    const { round, beats, beat, chosen } = this.#reader;
    const known = round.tokens.map((_, place) => this.#reader.known(place));
    if (round !== this.#round) this.element.classList.remove('is-lively');
    else if (beat !== this.#beat) this.element.classList.toggle('is-lively', beat > this.#beat);
    this.#beat = beat;
    const hadFocus = this.element.contains(document.activeElement);
    if (round !== this.#round) this.#build(round);
    this.#cards.forEach((card, place) => card.update(known[place], place === chosen));
    for (const { edge, place } of this.#edges) {
      edge.dataset.known = known[place];
      edge.dataset.fate = known[place] === 'decided' ? beats.fates[place] : 'undecided';
    }
    if (hadFocus && !this.element.contains(document.activeElement)) this.#cards[chosen].element.focus();
  }

  #build(round) {
    const { beats, book } = this.#reader;
    this.#round = round;
    const isResidual = round.tokens.some((token) => token.q !== undefined);
    this.#cards = round.tokens.map((token, place) => {
      const choose = () => this.#reader.choose(place);
      const facts = { isGreedy: book.start.greedy, isResidual, choose };
      return new TokenCard(token, this.#outcomes[token.f], facts);
    });
    const isTree = round.tokens.some((token) => token.b !== undefined);
    this.element.classList.toggle('is-tree', isTree);
    this.#edges = [];
    if (isTree) this.#layTree(round, beats);
    else this.element.replaceChildren(...this.#row(beats));
  }

  #row(beats) {
    const parts = this.#cards.map((card) => card.element);
    if (beats.guessed.length && beats.added.length) {
      const group = make('span', 'sv-round-added');
      const arrow = make('span', 'sv-round-arrow', '→', { 'aria-hidden': 'true' });
      group.append(arrow, ...parts.splice(beats.added[0]));
      parts.push(group);
    }
    return parts;
  }

  #layTree(round, beats) {
    const { plane, edges } = layTree(round.tokens, beats, this.#cards.map((card) => card.element));
    this.#edges = edges;
    this.element.replaceChildren(plane);
  }
}

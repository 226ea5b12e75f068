// The card that tells why one token was kept or thrown away.
import { decision } from '../evidence/decision.js';
import { distributions } from '../evidence/distributions.js';
import { TreeView, placeInTree } from '../evidence/tree_view.js';
import { drawStep, wrongStepAt } from '../evidence/wrong_step.js';
import { briefName, isRight, keyOf } from '../model/names.js';
import { make, makeButton, setText, visible, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { noteChosenToken } from './token.js';

const GAP_PX = 16;

/**
 * @typedef {{ token: import('../model/race.js').Token, round: import('../model/race.js').Round,
 *   lane: import('../model/race.js').Lane, race: import('../model/race.js').Race, isGreedy: boolean, element: HTMLElement,
 *   ofRound: Map<import('../model/race.js').Token, Entry> }} Entry
 * A token in a lane, the element that shows it there, and the entries of all tokens of its round.
 */

/** Shows one token: its fate, the probabilities that decided, and both distributions. */
export class Card {
  #head = make('div', 'sv-card-head');
  #body = make('div', 'sv-card-body', '', { tabindex: '0', role: 'group' });
  #foot = make('p', 'sv-card-hint');
  #link = makeButton(t('card.open_round'), () => this.#openRound(this.#shown), 'sv-link', { hidden: '' });
  /** The tree of the round, where it is one; pressing a token there opens it here. */
  #tree = new TreeView((index) => this.#turnTo(index), true);
  #openRound;
  #makeFlip;
  #pinned = null;
  #shown = null;

  /**
   * `openRound(entry)` is called when the visitor wants to see the whole round of a token; `makeFlip(entry)`
   * makes what flips its coin, or null.
   */
  constructor(openRound, makeFlip) {
    this.#openRound = openRound;
    this.#makeFlip = makeFlip;
    this.element = make('aside', 'sv-card', '', { 'aria-label': t('card.title') });
    this.#body.setAttribute('aria-label', t('card.details'));
    const label = t('card.close');
    const close = makeButton('×', () => this.#close(), 'sv-close', { 'aria-label': label, title: label });
    this.element.append(this.#head, close, this.#body, wrap('div', 'sv-card-foot', this.#link, this.#foot));
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.release();
    });
    this.clear();
  }

  /** Show a token, unless another one is pinned. */
  hover(entry) {
    if (!this.#pinned && entry !== this.#shown) this.#show(entry);
  }

  /** Keep a token shown until it is released or pinned again. */
  pin(entry) {
    if (this.#pinned === entry) return this.#unpin();
    this.#pinned?.element.classList.remove('is-pinned');
    this.#pinned = entry;
    entry.element.classList.add('is-pinned');
    this.#show(entry);
    this.#uncover(entry.element);
  }

  /** Let go of the token that is shown. */
  release() {
    if (this.#pinned) this.#unpin();
    else this.clear();
  }

  /** Show nothing. */
  clear() {
    this.#pinned = null;
    this.#shown = null;
    this.#setEmpty(true);
    this.element.classList.remove('is-pinned');
    this.#head.replaceChildren(make('h3', '', t('card.title')));
    this.#body.replaceChildren(make('p', '', t('card.empty')));
    setText(this.#foot, '');
    this.#link.hidden = true;
  }

  /** Whoever stands where the card does gives way to it. */
  #setEmpty(isEmpty) {
    this.element.classList.toggle('is-empty', isEmpty);
    this.element.parentElement?.classList.toggle('has-card', !isEmpty);
  }

  #close() {
    if (this.#pinned) this.#unpin();
    this.clear();
  }

  #unpin() {
    const entry = this.#pinned;
    entry.element.classList.remove('is-pinned');
    this.#pinned = null;
    if (this.element.contains(document.activeElement)) entry.element.closest('.sv-lane-body').focus();
    this.#show(entry);
  }

  #show(entry) {
    this.#shown = entry;
    const { text, fate } = entry.token;
    this.#setEmpty(false);
    this.element.classList.toggle('is-pinned', this.#pinned !== null);
    const sample = make('span', `sv-tok sv-${fate.name}`, visible(text));
    sample.dataset.mark = fate.mark;
    const words = make('p', 'sv-card-place', placeOf(entry));
    this.#head.replaceChildren(sample, make('span', 'sv-card-fate', t(`fate.${fate.name}`)), words);
    const wrong = wrongStepAt(entry, entry.token);
    // Why a guess was never judged is said of each with its own reason.
    const about = wrong?.kind === 'kept_back' ? 'wrong.kept_back_meaning' : `fate.${fate.name}_meaning`;
    const meaning = about === 'fate.discarded_meaning' ? [] : [make('p', 'sv-card-meaning', t(about))];
    const title = make('h3', '', t('law.title'));
    // What decided is read first: the table below it may be longer than there is room.
    const [notes, bars] = partsOf(entry);
    const { spec } = entry.lane;
    if (spec.translation && fate.isGuess) notes.unshift(make('p', 'sv-evidence-note', madeBy(spec)));
    if (wrong) notes.unshift(drawStep(wrong));
    else if (!isRight(spec)) notes.unshift(make('p', 'sv-evidence-note', t(`rule.${keyOf(spec.rule)}_about`)));
    const flip = this.#makeFlip(entry);
    const tree = this.#treeOf(entry);
    const { scrollLeft, scrollTop } = this.#tree.element;
    this.#body.replaceChildren(...meaning, decision(entry), ...tree, ...(flip ? [flip] : []), ...notes, title, ...bars);
    if (tree.length) {
      this.#tree.show(() => 'decided', entry.round.tokens.indexOf(entry.token));
      // An element that is put in again has lost where it was scrolled to.
      Object.assign(this.#tree.element, { scrollLeft, scrollTop });
      this.#tree.reveal();
    }
    // A plain step has nothing to be stepped through.
    this.#link.hidden = fate.name === 'plain';
    this.#body.scrollTop = 0;
    setText(this.#foot, hintOf(this.#pinned !== null));
  }

  /** The small tree of a round that branches, with its name. */
  #treeOf({ round }) {
    if (!round.isTree) return [];
    if (!this.#tree.has(round)) this.#tree.draw(round);
    return [make('h3', '', t('tree.title')), this.#tree.element];
  }

  /** Show another token of the tree, which stays where it is below the pointer or the keys. */
  #turnTo(index) {
    const { round, race, ofRound } = this.#shown;
    const entry = ofRound.get(round.tokens[index]);
    const before = this.#tree.element.offsetTop - this.#body.scrollTop;
    if (this.#pinned !== entry) this.pin(entry);
    this.#body.scrollTop = this.#tree.element.offsetTop - before;
    noteChosenToken(entry, race);
  }

  /** On a phone the card lies over the page: bring the token above it. */
  #uncover(element) {
    if (getComputedStyle(this.element).position !== 'fixed') return;
    const below = element.getBoundingClientRect().bottom + GAP_PX;
    const edge = this.element.getBoundingClientRect().top;
    if (below > edge) window.scrollBy({ top: below - edge });
  }
}

/** Who made the guesses of a lane whose draft has another tokenizer. */
function madeBy({ draft, translation }) {
  return t(`card.translated_${translation}`, { draft: briefName(draft) });
}

/** What the distributions mean, and the bars. */
function partsOf(entry) {
  const parts = distributions(entry);
  const isNote = (part) => part.matches('.sv-evidence-note');
  return [parts.filter(isNote), parts.filter((part) => !isNote(part))];
}

/** How to pin the token or let go of it; who points with a finger has no keys most likely. */
function hintOf(isPinned) {
  const hasKeys = window.matchMedia('(hover: hover)').matches;
  if (isPinned) return t(hasKeys ? 'card.pinned' : 'card.pinned_touch');
  return t(hasKeys ? 'card.not_pinned' : 'card.not_pinned_touch');
}

function placeOf({ token, round }) {
  if (round.isTree) return placeInRoundsTree(token, round);
  const guesses = round.tokens.filter((each) => each.fate.isGuess);
  const values = {
    round: round.number,
    guess: guesses.indexOf(token) + 1,
    guesses: guesses.length,
    token: (token.position ?? 0) + 1,
  };
  if (!token.fate.isGuess) return t('card.place_added', values);
  return t(token.position === null ? 'card.place_thrown' : 'card.place_kept', values);
}

function placeInRoundsTree(token, round) {
  const values = { round: round.number, place: placeInTree(token, round), token: (token.position ?? 0) + 1 };
  return t(token.position === null ? 'card.place_tree_thrown' : 'card.place_tree', values);
}

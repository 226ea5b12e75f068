// The card that tells why one token was kept or thrown away.
import { decision } from './decision.js';
import { make, setText, visible } from '../core/dom.js';
import { lawTable } from './laws.js';
import { t } from '../core/strings.js';

const GAP_PX = 16;

/** Shows one token: its fate, the probabilities that decided, and both laws. */
export class Card {
  #outcomes;
  #head = make('div', 'sv-card-head');
  #body = make('div', 'sv-card-body', '', { tabindex: '0', role: 'group' });
  #foot = make('p', 'sv-card-hint');
  #close;
  #openRound;
  #pinned = null;
  #shown = null;

  /** `openRound(entry)` is called when the visitor wants to see the whole round of a token. */
  constructor(outcomes, openRound) {
    this.#outcomes = outcomes;
    this.#openRound = openRound;
    this.element = make('aside', 'sv-card', '', { 'aria-label': t('card.title') });
    this.#body.setAttribute('aria-label', t('card.details'));
    const label = t('card.close');
    this.#close = make('button', 'sv-close', '×', { type: 'button', 'aria-label': label, title: label });
    this.#close.addEventListener('click', () => this.#unpin());
    this.element.append(this.#head, this.#close, this.#body, this.#foot);
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
    this.element.classList.add('is-empty');
    this.element.classList.remove('is-pinned');
    this.#head.replaceChildren(make('h3', '', t('card.title')));
    this.#body.replaceChildren(make('p', '', t('card.empty')));
    setText(this.#foot, '');
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
    const { token, outcome } = entry;
    this.element.classList.remove('is-empty');
    this.element.classList.toggle('is-pinned', this.#pinned !== null);
    const sample = make('span', `sv-tok sv-${outcome.name}`, visible(token.t));
    sample.dataset.mark = outcome.mark;
    const words = make('p', 'sv-card-place', this.#place(entry));
    this.#head.replaceChildren(sample, make('span', 'sv-card-fate', t(`fate.${outcome.name}`)), words);
    const fates = entry.tokens.map((each) => this.#outcomes[each.f].name);
    this.#body.replaceChildren(
      make('p', 'sv-card-meaning', t(`fate.${outcome.name}_meaning`)),
      ...decision(entry, fates),
      ...lawTable(entry, fates),
      ...this.#link(entry),
    );
    this.#body.scrollTop = 0;
    setText(this.#foot, t(this.#pinned ? 'card.pinned' : 'card.not_pinned'));
  }

  /** A way to the round of a guess; a plain step has nothing to be stepped through. */
  #link(entry) {
    if (entry.outcome.name === 'plain') return [];
    const link = make('button', 'sv-link', t('card.open_round'), { type: 'button' });
    link.addEventListener('click', () => this.#openRound(entry));
    return [link];
  }

  #place({ token, round, tokens }) {
    const guesses = tokens.filter((each) => this.#isGuess(each));
    const guess = guesses.indexOf(token) + 1;
    const place = { round, guess, guesses: guesses.length, token: (token.i ?? 0) + 1 };
    if (!guess) return t('card.place_added', place);
    return t(token.i === undefined ? 'card.place_thrown' : 'card.place_kept', place);
  }

  #isGuess(token) {
    return ['accepted', 'rejected', 'discarded'].includes(this.#outcomes[token.f].name);
  }

  /** On a phone the card lies over the page: bring the token above it. */
  #uncover(element) {
    if (getComputedStyle(this.element).position !== 'fixed') return;
    const below = element.getBoundingClientRect().bottom + GAP_PX;
    const edge = this.element.getBoundingClientRect().top;
    if (below > edge) window.scrollBy({ top: below - edge });
  }
}

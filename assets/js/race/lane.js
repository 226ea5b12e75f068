// One lane: a listbox of tokens that grows while the race runs.
import { make, visible } from '../core/dom.js';
import { LaneFlow } from './lane_flow.js';
import { LaneHead } from './lane_head.js';
import { stepTo } from './lane_walk.js';
import { t, tell } from '../core/strings.js';
import { tokenElement } from '../core/token.js';

const NEAR_BOTTOM_PX = 24;
/** A place that no text is long enough to reach: the browser stops at the end. */
const FAR_BELOW = 1e7;
const THROWN = new Set(['rejected', 'discarded']);

/** Draws one lane and lets a reader walk its tokens with pointer or keys. */
export class Lane {
  #id;
  #outcomes;
  #card;
  #isPlain;
  #isGreedy;
  #head;
  #entries = [];
  #byElement = new Map();
  #flow;
  #pending = document.createDocumentFragment();
  #numPending = 0;
  #active = null;
  #sticks = true;

  constructor(id, spec, start, outcomes, card) {
    this.#id = id;
    this.#outcomes = outcomes;
    this.#card = card;
    this.#isPlain = spec.plain;
    this.#isGreedy = start?.greedy ?? true;
    this.#head = new LaneHead(spec, start?.max ?? 1);
    this.#build(spec, start?.prompt ?? '');
    this.#listen();
  }

  #build(spec, prompt) {
    const name = tell(spec.name);
    this.element = make('section', 'sv-lane', '', { 'aria-label': t('lane.label', { name }) });
    // It is a listbox once there are tokens to choose from.
    this.body = make('div', 'sv-lane-body', '', {
      role: 'group',
      tabindex: '0',
      'aria-label': t('lane.tokens_of', { name }),
    });
    this.#flow = new LaneFlow(this.body);
    if (prompt) this.#flow.append(make('span', 'sv-prompt', prompt, { role: 'presentation' }), 1);
    if (spec.hint) this.#flow.append(make('span', 'sv-lane-hint', tell(spec.hint)), 1);
    this.latest = make('button', 'sv-latest', t('lane.latest'), { type: 'button', hidden: '' });
    this.element.append(this.#head.element, this.body, this.latest);
  }

  #listen() {
    this.body.addEventListener('scroll', () => {
      const rest = this.body.scrollHeight - this.body.clientHeight - this.body.scrollTop;
      this.#sticks = rest < NEAR_BOTTOM_PX;
      this.latest.hidden = this.#sticks;
    });
    this.latest.addEventListener('click', () => {
      this.#leave();
      this.body.scrollTop = FAR_BELOW;
      this.body.focus({ preventScroll: true });
    });
    this.body.addEventListener('pointerover', (event) => {
      const entry = this.#entryOf(event.target);
      if (entry) this.#card.hover(entry);
    });
    this.body.addEventListener('click', (event) => {
      const entry = this.#entryOf(event.target);
      if (!entry) return;
      this.#activate(entry);
      this.#card.pin(entry);
    });
    this.body.addEventListener('focus', () => {
      // A pointer chooses its token by itself; the lane must not move away below it.
      if (!this.body.matches(':focus-visible')) return;
      const first = this.#active ?? this.#firstInSight();
      if (first) this.#activate(first);
    });
    this.body.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Queue the tokens of a round; `flush` puts all that is queued into the page at once. */
  addRound(item) {
    const { round, tokens } = item;
    if (!this.#entries.length) this.body.setAttribute('role', 'listbox');
    const place = this.#isPlain ? this.#pending : this.#group(round);
    for (const token of tokens) {
      const outcome = this.#outcomes[token.f];
      const id = `sv-token-${this.#id}-${this.#entries.length}`;
      const fate = t(`fate.${outcome.name}`);
      const label = t('lane.token', { text: visible(token.t), fate, round });
      const closing = !this.#isPlain && token === tokens.at(-1) ? round : null;
      const element = tokenElement(token, outcome, id, label, closing);
      const entry = { token, outcome, element, round, tokens, isGreedy: this.#isGreedy };
      this.#entries.push(entry);
      this.#byElement.set(element, entry);
      place.append(element);
    }
    this.#numPending += tokens.length;
  }

  /** Put queued tokens into the page; tells whether there were any. */
  flush() {
    if (!this.#pending.hasChildNodes()) return false;
    this.#flow.append(this.#pending, this.#numPending);
    this.#numPending = 0;
    return true;
  }

  /** Stay at the end if the reader was there. */
  follow() {
    if (this.#sticks) this.body.scrollTop = FAR_BELOW;
    this.#flow.settle();
  }

  /** Let the text flow anew, where tokens came or went within it. */
  reflow() {
    this.#flow.join();
  }

  /** Show speed and number of tokens so far. */
  showFigures(figures) {
    this.#head.show(figures);
  }

  /** Say that the race was stopped, unless the lane had ended by itself. */
  stop() {
    if (!this.element.classList.contains('has-ended')) this.end(t('end.cancelled'), false);
  }

  /** Say why the lane ended, and whether its text is whole. */
  end(why, isWhole) {
    this.#head.end(tell(why), isWhole);
    this.element.classList.add('has-ended');
  }

  /** The tokens of a round belong together: pointing at one marks them all. */
  #group(round) {
    const group = make('span', 'sv-r', '', {
      role: 'group',
      'aria-label': t('lane.round', { round }),
    });
    this.#pending.append(group);
    return group;
  }

  #entryOf(target) {
    return this.#byElement.get(target.closest?.('.sv-t'));
  }

  #visible() {
    if (!this.element.closest('.hides-rejected')) return this.#entries;
    return this.#entries.filter((entry) => !THROWN.has(entry.outcome.name));
  }

  #firstInSight() {
    const { top } = this.body.getBoundingClientRect();
    return this.#visible().find((entry) => entry.element.getBoundingClientRect().top >= top);
  }

  #leave() {
    if (this.#active) mark(this.#active.element, false);
    this.#active = null;
    this.body.removeAttribute('aria-activedescendant');
  }

  #activate(entry) {
    this.#leave();
    this.#active = entry;
    mark(entry.element, true);
    this.body.setAttribute('aria-activedescendant', entry.element.id);
    this.#reveal(entry.element);
    this.#card.hover(entry);
  }

  // Not scrollIntoView: that would move the whole page as well.
  #reveal(element) {
    const box = element.getBoundingClientRect();
    const frame = this.body.getBoundingClientRect();
    if (box.top < frame.top) this.body.scrollTop -= frame.top - box.top + 8;
    else if (box.bottom > frame.bottom) this.body.scrollTop += box.bottom - frame.bottom + 8;
  }

  #key(event) {
    const entries = this.#visible();
    if (!entries.length) return;
    const at = Math.max(0, entries.indexOf(this.#active));
    const next = stepTo(event.key, entries, at);
    if (next) this.#activate(next);
    else if (event.key === 'Enter' || event.key === ' ') this.#card.pin(entries[at]);
    else if (event.key === 'Escape') this.#card.release();
    else return;
    event.preventDefault();
  }
}

function mark(element, isActive) {
  element.classList.toggle('is-active', isActive);
  element.setAttribute('aria-selected', String(isActive));
  element.parentElement.classList.toggle('is-marked', isActive && element.parentElement.matches('.sv-r'));
}

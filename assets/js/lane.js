// One lane: a listbox of tokens that grows while the race runs.
import { make, setText } from './dom.js';
import { tokenElement } from './token.js';

const NEAR_BOTTOM_PX = 24;

/** Draws one lane and lets a reader walk its tokens with pointer or keys. */
export class Lane {
  #id;
  #outcomes;
  #card;
  #max;
  #isPlain;
  #entries = [];
  #byElement = new Map();
  #pending = document.createDocumentFragment();
  #active = null;
  #sticks = true;

  constructor(id, spec, start, outcomes, card) {
    this.#id = id;
    this.#outcomes = outcomes;
    this.#card = card;
    this.#max = start?.max ?? 1;
    this.#isPlain = spec.plain;
    this.#build(spec, start?.prompt ?? '');
    this.#listen();
  }

  #build(spec, prompt) {
    this.element = make('section', 'sv-lane', '', { 'aria-label': `Lane: ${spec.name}` });
    const head = make('header', 'sv-lane-head');
    this.speed = make('strong', '', '– tok/s');
    this.count = make('span', '', '0 tokens');
    this.why = make('span', 'sv-lane-end');
    const facts = make('p');
    facts.append(this.count, this.why);
    head.append(make('h2', '', spec.name), this.speed, make('p', '', spec.about), facts);
    const track = make('div', 'sv-track');
    this.bar = make('div', 'sv-bar');
    track.append(this.bar);
    this.body = make('div', 'sv-lane-body', '', {
      role: 'listbox',
      tabindex: '0',
      'aria-label': `Tokens of ${spec.name}`,
    });
    if (prompt) this.body.append(make('span', 'sv-prompt', prompt, { role: 'presentation' }));
    if (spec.hint) this.body.append(make('span', 'sv-lane-hint', spec.hint));
    this.latest = make('button', 'sv-latest', '↓ latest', { type: 'button', hidden: '' });
    this.element.append(head, track, this.body, this.latest);
  }

  #listen() {
    this.body.addEventListener('scroll', () => {
      const rest = this.body.scrollHeight - this.body.clientHeight - this.body.scrollTop;
      this.#sticks = rest < NEAR_BOTTOM_PX;
      this.latest.hidden = this.#sticks;
    });
    this.latest.addEventListener('click', () => {
      this.body.scrollTop = this.body.scrollHeight;
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
      if (!this.#active && this.#entries.length) this.#activate(this.#visible()[0]);
    });
    this.body.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Queue the tokens of a round; `flush` puts all that is queued into the page at once. */
  addRound(item) {
    for (const token of item.tokens) {
      const outcome = this.#outcomes[token.f];
      const id = `sv-token-${this.#id}-${this.#entries.length}`;
      const label = `${outcome.label}, round ${item.round}`;
      const closing = !this.#isPlain && token === item.tokens.at(-1) ? item.round : null;
      const element = tokenElement(token, outcome, id, label, closing);
      const entry = { token, outcome, element, round: item.round, tokens: item.tokens };
      this.#entries.push(entry);
      this.#byElement.set(element, entry);
      this.#pending.append(element);
    }
  }

  /** Put queued tokens into the page, and stay at the end if the reader was there. */
  flush() {
    if (!this.#pending.hasChildNodes()) return;
    this.body.append(this.#pending);
    if (this.#sticks) this.body.scrollTop = this.body.scrollHeight;
  }

  /** Show speed and number of tokens so far. */
  showFigures(figures) {
    setText(this.speed, figures.speed);
    setText(this.count, `${figures.tokens} tokens`);
    this.bar.style.transform = `scaleX(${Math.min(1, figures.tokens / this.#max)})`;
  }

  /** Say that the race was stopped, unless the lane had ended by itself. */
  stop() {
    if (!this.element.classList.contains('has-ended')) this.end('stopped');
  }

  /** Say why the lane ended. */
  end(why) {
    setText(this.why, ` · ${why}`);
    this.element.classList.add('has-ended');
  }

  #entryOf(target) {
    return this.#byElement.get(target.closest?.('.sv-t'));
  }

  #visible() {
    return this.#entries.filter((entry) => entry.element.offsetParent !== null);
  }

  #activate(entry) {
    this.#active?.element.classList.remove('is-active');
    this.#active?.element.setAttribute('aria-selected', 'false');
    this.#active = entry;
    entry.element.classList.add('is-active');
    entry.element.setAttribute('aria-selected', 'true');
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
    const next = this.#step(event.key, entries, at);
    if (next) this.#activate(next);
    else if (event.key === 'Enter' || event.key === ' ') this.#card.pin(entries[at]);
    else if (event.key === 'Escape') this.#card.release();
    else return;
    event.preventDefault();
  }

  #step(key, entries, at) {
    if (key === 'ArrowRight') return entries[Math.min(at + 1, entries.length - 1)];
    if (key === 'ArrowLeft') return entries[Math.max(at - 1, 0)];
    if (key === 'Home') return entries[0];
    if (key === 'End') return entries.at(-1);
    const round = entries[at].round;
    if (key === 'ArrowDown') return entries.find((entry) => entry.round > round) ?? entries.at(-1);
    if (key === 'ArrowUp') {
      const before = entries.findLast((entry) => entry.round < round)?.round;
      return entries.find((entry) => entry.round === (before ?? round));
    }
    return null;
  }
}

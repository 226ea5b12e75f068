// One lane: a listbox of tokens that grows while the race runs.
import { make, makeButton, visible } from '../page/dom.js';
import { forkOf, hasCoin } from '../model/coins.js';
import { flagOf } from '../model/finish.js';
import { LaneFlow } from './lane_flow.js';
import { LaneHead } from './lane_head.js';
import { inReadingOrder } from './lane_tokens.js';
import { t } from '../page/strings.js';
import { noteChosenToken, restElement, tokenElement } from './token.js';

/** More than a line, since the end is where a line begins at the top. */
const NEAR_BOTTOM_PX = 48;
/** A height that no text is long enough to reach: the browser stops at the end. */
const FAR_BELOW = 1e7;

/** Draws one lane and lets a reader walk its tokens with pointer or keys. */
export class LaneView {
  #id;
  #card;
  #about;
  #race;
  #lane;
  #head;
  #entries = [];
  #byElement = new Map();
  #flow;
  #numDrawn = 0;
  #numCoins = 0;
  /** The coin at which this lane and another one part, null where none was flipped. */
  #fork = null;
  #active = null;
  #sticks = true;
  /** Height of a line and of the room above the first, in pixels. */
  #line = 1;
  #above = 0;

  /**
   * `about` describes the lane: `isBaseline`, `isBroken`, `name`, `about`, and a `hint` where there is no race yet;
   * `race` and `lane` are what is drawn, null before the first race.
   */
  constructor(id, about, card, race = null, lane = null) {
    this.#id = id;
    this.#card = card;
    this.#about = about;
    this.#race = race;
    this.#lane = lane;
    this.#fork = lane ? forkOf(lane) : null;
    this.#head = new LaneHead(about, race?.started.request.max_new_tokens ?? 1);
    this.#build(race?.started.request.prompt ?? '');
    this.#listen();
  }

  /** Draw what is new in the lane; `settle` afterwards, once all lanes are drawn. Says whether any was. */
  draw() {
    const { rounds } = this.#lane;
    const tokens = document.createDocumentFragment();
    const numBefore = this.#entries.length;
    for (const round of rounds.slice(this.#numDrawn)) this.#add(round, tokens);
    this.#numDrawn = rounds.length;
    const numNew = this.#entries.length - numBefore;
    if (numNew) this.#flow.append(tokens, numNew);
    this.#head.show(this.#race, this.#lane);
    this.#showEnd();
    return numNew > 0;
  }

  /** Stay at the end if the reader was there. */
  settle() {
    if (this.#sticks) this.#scrollToEnd();
    this.#flow.settle();
  }

  /** Let the text flow anew, where tokens came or went within it. */
  reflow() {
    this.#flow.join();
  }

  #build(prompt) {
    const { name, hint, isBroken = false } = this.#about;
    this.element = make('section', 'sv-lane', '', { 'aria-label': t('lane.label', { name }) });
    this.element.classList.toggle('is-broken', isBroken);
    // It is a listbox once there are tokens to choose from.
    this.body = make('div', 'sv-lane-body', '', {
      role: 'group',
      tabindex: '0',
      'aria-label': t('lane.tokens_of', { name }),
    });
    this.#flow = new LaneFlow(this.body);
    if (prompt) this.#flow.append(make('span', 'sv-prompt', prompt, { role: 'presentation' }), 1);
    if (hint) this.#flow.append(make('span', 'sv-lane-hint', hint), 1);
    this.latest = makeButton(t('lane.latest'), () => this.#goToEnd(), 'sv-latest', { hidden: '' });
    this.element.append(this.#head.element, this.body, this.latest);
  }

  #listen() {
    // What is said above the lanes may take a line of their height.
    new ResizeObserver(() => {
      this.#measure();
      if (this.#sticks) this.#scrollToEnd();
    }).observe(this.body);
    this.body.addEventListener('scroll', () => {
      const rest = this.body.scrollHeight - this.body.clientHeight - this.body.scrollTop;
      this.#sticks = rest < NEAR_BOTTOM_PX;
      this.latest.hidden = this.#sticks;
    });
    this.body.addEventListener('pointermove', (event) => {
      // Text that runs along under a pointer that rests is not pointed at.
      if (!event.movementX && !event.movementY) return;
      const entry = this.#entryOf(event.target);
      if (entry) this.#card.hover(entry);
    });
    this.body.addEventListener('click', (event) => {
      const entry = this.#entryOf(event.target);
      if (!entry) return;
      this.#activate(entry);
      this.#choose(entry);
    });
    this.body.addEventListener('focus', () => {
      // A pointer chooses its token by itself; the lane must not move away below it.
      if (!this.body.matches(':focus-visible')) return;
      const first = this.#active ?? this.#firstInSight();
      if (first) this.#activate(first);
    });
    this.body.addEventListener('keydown', (event) => this.#key(event));
  }

  #add(round, tokens) {
    if (!this.#entries.length) this.body.setAttribute('role', 'listbox');
    const { isBaseline } = this.#about;
    const container = isBaseline ? tokens : groupOf(round, tokens);
    /** @type {Map<import('../model/race.js').Token, import('./card.js').Entry>} */
    const ofRound = new Map();
    const order = inReadingOrder(round);
    for (const each of order) {
      const closing = !isBaseline && each === order.at(-1) ? round.number : null;
      const element = this.#elementOf(each, round, closing);
      const facts = { round, lane: this.#lane, race: this.#race, isGreedy: this.#race.isGreedy, element, ofRound };
      for (const token of each.tokens) ofRound.set(token, { token, ...facts });
      const entry = ofRound.get(each.tokens[0]);
      this.#entries.push(entry);
      this.#byElement.set(element, entry);
      container.append(element);
    }
  }

  /** The element of a token, or of guesses that nobody judged, with the number of the round that it closes. */
  #elementOf({ tokens, isRest }, round, closing) {
    const id = `sv-token-${this.#id}-${this.#entries.length}`;
    if (isRest) return restElement(tokens.length, id, t('lane.rest', { n: tokens.length, round: round.number }), closing);
    const [token] = tokens;
    const fate = t(`fate.${token.fate.name}`);
    const label = t('lane.token', { text: visible(token.text), fate, round: round.number });
    const element = tokenElement(token, id, label, closing);
    element.classList.toggle('is-tried', round.isTree && token.fate.name === 'rejected');
    if (hasCoin(token) && this.#numCoins++ === this.#fork) {
      element.classList.add('is-fork');
      element.title = t('lane.fork_here');
    }
    return element;
  }

  /** A lane that was cut short says so, also where the race was left without a word about it. */
  #showEnd() {
    const isStopped = this.#race.status.state === 'stopped';
    if (!this.#lane.hasEnded && !isStopped) return;
    const reason = this.#lane.stopReason ?? 'cancelled';
    this.#head.end({
      why: t(`end.${reason}`),
      about: reason === 'context' ? t('end.context_meaning') : '',
      isWhole: this.#lane.isWhole,
      repeats: this.#lane.loop ? t('loop.short') : '',
      flag: flagOf(this.#race, this.#lane),
    });
    this.element.classList.add('has-ended');
  }

  #choose(entry) {
    this.#card.pin(entry);
    noteChosenToken(entry, this.#race);
  }

  #goToEnd() {
    this.#leave();
    this.#scrollToEnd();
    this.body.focus({ preventScroll: true });
  }

  /** Go to the end, with a whole line at the top: the room below the text is what gives way. */
  #scrollToEnd() {
    this.body.scrollTop = FAR_BELOW;
    const end = this.body.scrollTop;
    if (end > 0) this.body.scrollTop = end - ((end - this.#above) % this.#line);
  }

  #measure() {
    const { lineHeight, paddingTop } = getComputedStyle(this.body);
    this.#line = Number.parseFloat(lineHeight) || 1;
    this.#above = Number.parseFloat(paddingTop);
  }

  #entryOf(target) {
    return this.#byElement.get(target.closest?.('.sv-t'));
  }

  #visible() {
    if (!this.element.closest('.hides-rejected')) return this.#entries;
    return this.#entries.filter(({ token }) => token.position !== null);
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
    else if (event.key === 'Enter' || event.key === ' ') this.#choose(entries[at]);
    else if (event.key === 'Escape') this.#card.release();
    else return;
    event.preventDefault();
  }
}

/** The tokens of a round belong together: pointing at one marks them all. */
function groupOf(round, tokens) {
  const label = t('lane.round', { round: round.number });
  const group = make('span', 'sv-r', '', { role: 'group', 'aria-label': label });
  tokens.append(group);
  return group;
}

function mark(element, isActive) {
  element.classList.toggle('is-active', isActive);
  element.setAttribute('aria-selected', String(isActive));
  element.parentElement.classList.toggle('is-marked', isActive && element.parentElement.matches('.sv-r'));
}

/** The entry that a key leads to: left and right by token, up and down by round; null for any other. */
function stepTo(key, entries, at) {
  const { number } = entries[at].round;
  const before = entries.findLast((entry) => entry.round.number < number)?.round.number ?? number;
  const steps = {
    ArrowRight: () => entries[Math.min(at + 1, entries.length - 1)],
    ArrowLeft: () => entries[Math.max(at - 1, 0)],
    Home: () => entries[0],
    End: () => entries.at(-1),
    ArrowDown: () => entries.find((entry) => entry.round.number > number) ?? entries.at(-1),
    ArrowUp: () => entries.find((entry) => entry.round.number === before),
  };
  return steps[key]?.() ?? null;
}

// Lights up the control that a lesson speaks of, brings it into sight, and keeps the panel off it.
import { isMotionReduced } from '../page/dom.js';
import { isOpen, openTab } from '../page/tabs.js';
import { CORNERS, around, bestCorner } from './placing.js';

const LOOK_EVERY_MS = 300;
const MARGIN_PX = 16;
/** On a phone the card of a token lies over the page too. */
const TOKEN_CARD = '.sv-card.is-pinned';
/** What a visitor of a race wants to get at, whatever the step speaks of. */
const USEFUL = '#sv-tabs [role=tab], #sv-prompt, #sv-lanes, #sv-race, #sv-race-status, .sv-figure';

/** One light: it finds its control again when the page draws it anew. */
export class Light {
  #panel;
  #wanted = null;
  #lit = null;
  #timer = 0;
  #isLeftAlone = false;
  /** Whether the visitor asked where the control is, which it answers once it is found. */
  #isAsked = false;
  #corner = CORNERS[0];

  constructor(panel) {
    this.#panel = panel;
    for (const name of ['wheel', 'touchmove', 'keydown']) {
      window.addEventListener(name, () => this.#leaveAlone(), { passive: true });
    }
    window.addEventListener('scroll', () => this.#place(), { passive: true });
    window.addEventListener('resize', () => this.#place());
    new ResizeObserver(() => this.#place()).observe(panel);
  }

  /**
   * Light up what `at` finds, and keep clear what `beside` finds, of which the step speaks too;
   * `mayTravel` opens its tab, else it waits until the visitor does.
   */
  show({ at, beside = '', tab }, mayTravel) {
    this.off();
    if (!at) return;
    if (mayTravel) openTab(tab);
    this.#wanted = { at, beside, tab };
    this.#isLeftAlone = false;
    this.#isAsked = mayTravel;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#look();
  }

  /** Put the light out. */
  off() {
    clearInterval(this.#timer);
    this.#wanted = null;
    this.#put(null);
  }

  #look() {
    const { at, tab } = this.#wanted;
    const found = isOpen(tab) ? document.querySelector(at) : null;
    if (found !== this.#lit) this.#put(found);
    this.#place();
    if (found && this.#isAsked) this.#answer(found);
    if (found && !this.#isLeftAlone) this.#bringIntoSight();
  }

  /** Draw the eye to what was asked for, also where it stood in sight already. */
  #answer(element) {
    this.#isAsked = false;
    if (isMotionReduced()) return;
    element.animate([{ outlineOffset: '1.5rem' }, { outlineOffset: '0.125rem' }], { duration: 350, iterations: 2 });
  }

  /** Once visitors scroll by themselves, the page stays where they put it. */
  #leaveAlone() {
    this.#isLeftAlone = true;
  }

  #put(element) {
    this.#lit?.removeAttribute('data-lit');
    element?.setAttribute('data-lit', '');
    this.#lit = element;
  }

  #bringIntoSight() {
    const lit = this.#lit.getBoundingClientRect();
    const whole = around([lit, ...boxesOf(this.#wanted.beside)]);
    const [top, bottom] = this.#room(whole);
    // What does not fit all together is left out: the control that is lit comes first.
    const box = whole.bottom - whole.top + 2 * MARGIN_PX <= bottom - top ? whole : lit;
    if (box.top >= top + MARGIN_PX && box.bottom <= bottom - MARGIN_PX) return;
    const above = Math.max(MARGIN_PX, (bottom - top - (box.bottom - box.top)) / 2);
    const behavior = isMotionReduced() ? 'auto' : 'smooth';
    window.scrollBy({ top: box.top - top - above, behavior });
  }

  /** From where to where the page can be seen where a box is. */
  #room(box) {
    const sheets = [this.#panel, ...document.querySelectorAll(TOKEN_CARD)].filter(isSheet);
    const over = sheets
      .map((sheet) => sheet.getBoundingClientRect())
      .filter((sheet) => box.right >= sheet.left && box.left <= sheet.right);
    const [above, below] = [[0], [window.innerHeight]];
    for (const sheet of over) {
      if (sheet.top + sheet.bottom > window.innerHeight) below.push(sheet.top);
      else above.push(sheet.bottom);
    }
    return [Math.max(...above), Math.min(...below)];
  }

  /** Put the panel where it covers the least. */
  #place() {
    if (!this.#panel.checkVisibility()) return;
    const { width, height } = this.#panel.getBoundingClientRect();
    const view = { width: document.documentElement.clientWidth, height: window.innerHeight };
    const style = getComputedStyle(this.#panel);
    const margin = parseFloat(this.#corner.isTop ? style.top : style.bottom) || 0;
    const lit = this.#lit ? [this.#lit.getBoundingClientRect()] : [];
    // Whoever opened a card reads it now.
    const levels = [boxesOf(TOKEN_CARD), lit, boxesOf(this.#wanted?.beside), boxesOf(USEFUL)];
    const corner = bestCorner({ width, height, margin }, view, levels, this.#corner);
    if (corner === this.#corner) return;
    this.#corner = corner;
    this.#panel.classList.toggle('is-left', corner.isLeft);
    this.#panel.classList.toggle('is-top', corner.isTop);
  }
}

/** The boxes of all that a selector finds and that can be seen. */
function boxesOf(selector) {
  if (!selector) return [];
  const found = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  return found.map((each) => each.getBoundingClientRect());
}

/** Whether an element lies over the page, at a fixed place of the window. */
function isSheet(element) {
  return element.checkVisibility() && getComputedStyle(element).position === 'fixed';
}

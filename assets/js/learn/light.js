// Lights up the control that a lesson speaks of, brings it into sight, and keeps the panel off it.
import { isMotionReduced } from '../page/dom.js';
import { isOpen, openTab } from '../page/tabs.js';

const LOOK_EVERY_MS = 300;
const MARGIN_PX = 16;
/** On a phone the card of a token lies over the page too. */
const TOKEN_CARD = '.sv-card.is-pinned';

/** One light: it finds its control again when the page draws it anew. */
export class Light {
  #panel;
  #wanted = null;
  #lit = null;
  #timer = 0;
  #isLeftAlone = false;

  constructor(panel) {
    this.#panel = panel;
    for (const name of ['wheel', 'touchmove', 'keydown']) {
      window.addEventListener(name, () => this.#leaveAlone(), { passive: true });
    }
    window.addEventListener('scroll', () => this.#makeRoom(), { passive: true });
    window.addEventListener('resize', () => this.#makeRoom());
  }

  /** Light up what `at` finds; `mayTravel` opens its tab, else it waits until the visitor does. */
  show({ at, tab }, mayTravel) {
    this.off();
    if (!at) return;
    if (mayTravel) openTab(tab);
    this.#wanted = { at, tab };
    this.#isLeftAlone = false;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#look();
  }

  /** Put the light out. */
  off() {
    clearInterval(this.#timer);
    this.#wanted = null;
    this.#put(null);
    this.#panel.classList.remove('is-left');
  }

  #look() {
    const { at, tab } = this.#wanted;
    const found = isOpen(tab) ? document.querySelector(at) : null;
    if (found !== this.#lit) this.#put(found);
    if (found && !this.#isLeftAlone) this.#bringIntoSight();
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
    const box = this.#lit.getBoundingClientRect();
    const room = this.#room(box);
    const isSeen = box.top >= MARGIN_PX && box.bottom <= room - MARGIN_PX;
    if (!isSeen) {
      const above = Math.max(MARGIN_PX, (room - box.height) / 2);
      const behavior = isMotionReduced() ? 'auto' : 'smooth';
      window.scrollBy({ top: box.top - above, behavior });
    }
    this.#makeRoom();
  }

  /** How far down the page can be seen where the control is. */
  #room(box) {
    const sheets = [this.#panel, ...document.querySelectorAll(TOKEN_CARD)].filter(isSheet);
    const over = sheets
      .map((sheet) => sheet.getBoundingClientRect())
      .filter((sheet) => box.right >= sheet.left && box.left <= sheet.right);
    return Math.min(window.innerHeight, ...over.map((sheet) => sheet.top));
  }

  /** Move the panel to the other side where it covers the control, if that helps. */
  #makeRoom() {
    if (!this.#lit) return;
    const covers = () => overlap(this.#lit.getBoundingClientRect(), this.#panel.getBoundingClientRect());
    const before = covers();
    if (!before) return;
    this.#panel.classList.toggle('is-left');
    if (covers() >= before) this.#panel.classList.toggle('is-left');
  }
}

/** Whether an element lies over the page, at a fixed place of the window. */
function isSheet(element) {
  return element.checkVisibility() && getComputedStyle(element).position === 'fixed';
}

/** The area that two boxes share. */
function overlap(one, other) {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return Math.max(0, width) * Math.max(0, height);
}

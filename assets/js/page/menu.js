// A menu below a button: opened, walked and left by pointer or keys; the focus then is on the button again.
import { make, makeButton } from './dom.js';

/** Where a key leads among `n` items from the one at `index`. */
const MOVES = {
  ArrowDown: (index, n) => (index + 1) % n,
  ArrowUp: (index, n) => (index + n - 1) % n,
  Home: () => 0,
  End: (_, n) => n - 1,
};

/** What a button opens; `element` stands right behind the button. */
export class Menu {
  #button;
  #items;
  element;

  /** `items` are `{ name, text, detail, act }`; the button calls `toggle`. */
  constructor(button, id, items) {
    this.#button = button;
    const attributes = { 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id };
    for (const [name, value] of Object.entries(attributes)) button.setAttribute(name, value);
    this.element = make('div', 'sv-menu', '', { role: 'menu', id, hidden: '', 'aria-label': button.textContent });
    this.#items = items.map((item) => this.#makeItem(item));
    this.element.append(...this.#items);
    this.element.addEventListener('keydown', (event) => this.#key(event));
    button.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
      if (event.key !== 'ArrowDown' || button.disabled || button.ariaDisabled === 'true') return;
      event.preventDefault();
      this.#open();
    });
    for (const each of [button, this.element]) {
      each.addEventListener('focusout', (event) => this.#leave(event.relatedTarget));
    }
    document.addEventListener('pointerdown', (event) => this.#leave(event.target));
  }

  toggle() {
    if (this.element.hidden) this.#open();
    else this.close();
  }

  /** Close it; whoever was in it is at the button again. */
  close() {
    if (this.element.hidden) return;
    const wasInside = this.element.contains(document.activeElement);
    if (wasInside) this.#button.focus();
    this.element.hidden = true;
    this.#button.setAttribute('aria-expanded', 'false');
  }

  #open() {
    this.element.hidden = false;
    this.#button.setAttribute('aria-expanded', 'true');
    this.#items[0].focus();
  }

  #makeItem({ name, text, detail, act }) {
    const choose = () => {
      this.close();
      act();
    };
    const item = makeButton('', choose, 'sv-menu-item', { role: 'menuitem', tabindex: '-1' });
    item.dataset.name = name;
    item.append(make('b', '', text), make('span', '', detail));
    return item;
  }

  #key(event) {
    if (event.key === 'Escape') this.close();
    else if (Object.hasOwn(MOVES, event.key)) {
      const index = this.#items.indexOf(document.activeElement);
      this.#items[MOVES[event.key](index, this.#items.length)].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Close it where focus or pointer went elsewhere. */
  #leave(to) {
    if (this.#button.contains(to) || this.element.contains(to)) return;
    if (!this.element.hidden && to) this.close();
  }
}

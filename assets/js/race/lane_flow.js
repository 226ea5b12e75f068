// The running text of a lane, kept in parts so that a long text costs no more to lengthen than a short one.
import { make } from '../page/dom.js';

const LONGEST_PART = 36;

/**
 * A browser lays a whole paragraph out again for each word that is added. So a part that has become
 * long is closed and the next one begins, always where a line begins anyway: nobody sees the seam.
 */
export class LaneFlow {
  #container;
  #part;
  #size = 0;
  #width = 0;

  constructor(container) {
    this.#container = container;
    this.#begin();
    new ResizeObserver(() => this.#turn()).observe(container);
  }

  /** Add elements, of so many tokens together. */
  append(elements, numTokens) {
    this.#part.append(elements);
    this.#size += numTokens;
  }

  /** Close the last part if it has become long. Reads the layout: call it when that is up to date. */
  settle() {
    if (this.#size < LONGEST_PART) return;
    const children = [...this.#part.children];
    const padding = Number.parseFloat(getComputedStyle(this.#part).paddingLeft);
    const edge = this.#part.getBoundingClientRect().left + padding;
    const at = children.findLastIndex((child, index) => index > 0 && beginsLine(child, edge));
    if (at < 0) return;
    this.#begin();
    this.#part.append(...children.slice(at));
    this.#part.classList.toggle('has-space', this.#part.textContent.startsWith(' '));
  }

  /** Make one part of all, for lines that break elsewhere now. */
  join() {
    const [first, ...rest] = this.#container.querySelectorAll('.sv-part');
    for (const part of rest) {
      first.append(...part.children);
      part.remove();
    }
    this.#part = first;
    this.#size = 0;
  }

  #begin() {
    this.#part = make('div', 'sv-part', '', { role: 'presentation' });
    this.#container.append(this.#part);
    this.#size = 0;
  }

  #turn() {
    const width = this.#container.clientWidth;
    if (this.#width && width && width !== this.#width) this.join();
    this.#width = width || this.#width;
  }
}

/** Whether the first word of an element stands at the left edge, with at most one space before it. */
function beginsLine(element, edge) {
  const word = element.querySelector('.sv-t > span');
  const before = word?.previousSibling?.textContent ?? '';
  if (!word || (before !== '' && before !== ' ')) return false;
  const [box] = word.getClientRects();
  return box !== undefined && Math.abs(box.left - edge) < 1;
}

// How far a histogram is from its law while draws come in, beside what luck explains: a small drawing.
import { make, wrap } from '../page/dom.js';
import { percent, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [320, 96];
/** The first draws say nothing, and would leave no room for the rest. */
const LEAST_SHARE = 0.03;

/** Draws total variation and its bound over the number of draws. */
export class FallingCurve {
  #points = [];
  #svg = element('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  #luck = element('path', { class: 'sv-curve-luck' });
  #edge = element('path', { class: 'sv-curve-edge' });
  #line = element('path', { class: 'sv-curve-line' });
  #high = make('span', 'sv-curve-high');
  #end = make('span', 'sv-curve-end');

  constructor(label) {
    this.#svg.append(this.#luck, this.#edge, this.#line);
    const plot = wrap('div', 'sv-falling-plot', this.#high);
    plot.append(this.#svg);
    const axis = wrap('p', 'sv-falling-axis', make('span', '', plain(0)), make('span', '', t('proof.axis')), this.#end);
    this.element = wrap('figure', 'sv-falling', make('figcaption', '', label), plot, axis);
    this.clear();
  }

  clear() {
    this.#points = [];
    this.element.hidden = true;
  }

  add(numDone, variation, bound) {
    this.#points.push({ numDone, variation, bound });
  }

  /** Draw all points, as far as `numAll` draws. */
  draw(numAll) {
    const points = this.#points.filter(({ numDone }) => numDone >= LEAST_SHARE * numAll);
    this.element.hidden = points.length < 2;
    if (this.element.hidden) return;
    const top = Math.max(...points.flatMap(({ variation, bound }) => [variation, bound]));
    const at = (numDone, value) => `${((WIDTH * numDone) / numAll).toFixed(1)} ${(HEIGHT * (1 - value / top)).toFixed(1)}`;
    const path = (field) => `M${points.map((point) => at(point.numDone, point[field])).join('L')}`;
    const [first, last] = [points[0].numDone, points.at(-1).numDone];
    this.#line.setAttribute('d', path('variation'));
    this.#edge.setAttribute('d', path('bound'));
    this.#luck.setAttribute('d', `${path('bound')}L${at(last, 0)}L${at(first, 0)}Z`);
    this.#high.textContent = percent(top, 0);
    this.#end.textContent = plain(numAll);
  }
}

function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

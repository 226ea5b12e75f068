// What stands around the painted blocks: each lane's name and where its time went, in words.
import { clockOf } from './clock_lanes.js';
import { make, setText } from '../core/dom.js';
import { t } from '../core/strings.js';

/** Lays the rows of the strip out; the blocks are painted where it leaves room for them. */
export class ClockRows {
  #shares = [];
  #bars = [];
  #axis = make('div', 'sv-clock-axis');
  /** Edges of the bars and the size of all, as they were measured last. */
  places = [];
  size = { width: 0, height: 0, axisTop: 0 };

  constructor() {
    this.element = make('div', 'sv-clock-rows', '', { 'aria-hidden': 'true' });
    this.build([]);
  }

  /** Make one row a lane. */
  build(lanes) {
    this.#shares = lanes.map(() => make('span', 'sv-clock-shares'));
    this.#bars = lanes.map(() => make('div', 'sv-clock-bar'));
    this.element.replaceChildren();
    lanes.forEach((lane, index) => {
      const label = make('p', 'sv-clock-label');
      label.append(make('span', 'sv-clock-name', lane.name), this.#shares[index]);
      this.element.append(label, this.#bars[index]);
    });
    this.element.append(this.#axis);
  }

  /** Bring the words up to date. */
  show(lanes) {
    lanes.forEach((lane, index) => setText(this.#shares[index], sharesOf(lane)));
  }

  /** All rows as one text, for those who do not see them. */
  describe(lanes) {
    const told = lanes.map((lane) => t('clock.lane', { lane: lane.name, shares: sharesOf(lane) }));
    return [t('clock.about'), ...told].join(' ');
  }

  /** Measure where the bars are; asking makes the browser lay the page out, so not in each frame. */
  measure() {
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.size = { width, height, axisTop: this.#axis.offsetTop };
    this.places = this.#bars.map((bar) => ({ top: bar.offsetTop, height: bar.offsetHeight }));
  }

  /** The lane whose row is at this height, or -1. */
  laneAt(y) {
    return this.places.findIndex(({ top, height }) => y < top + height);
  }
}

function sharesOf(lane) {
  const seconds = (clockOf(lane) / 1000).toFixed(2);
  if (!lane.shares.length) return t('clock.seconds', { number: seconds });
  const [draft, verify, other] = lane.shares;
  if (lane.isPlain) return t('clock.shares_plain', { seconds, verify, other });
  return t('clock.shares', { seconds, draft, verify, other });
}

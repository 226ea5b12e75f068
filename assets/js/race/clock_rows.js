// What stands around the painted blocks: the head, and each lane's name with where its time went, in words.
import { KINDS } from './clock_painter.js';
import { laneName } from '../model/names.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { decimals, percent } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Make the head; `onZoom(isWhole)` is called when a visitor chooses, the whole race comes first. */
export function clockHead(onZoom) {
  const key = make('ul', 'sv-clock-key');
  for (const kind of KINDS) {
    const entry = make('li', '', t(`clock.${kind}`));
    entry.dataset.kind = kind;
    key.append(entry);
  }
  return wrap('header', 'sv-clock-head', make('h2', '', t('clock.title')), key, zoom(onZoom));
}

function zoom(onZoom) {
  const buttons = ['whole', 'recent'].map((name) =>
    makeButton(t(`clock.${name}`), () => {
      press(name === 'whole');
      onZoom(name === 'whole');
    }),
  );
  const press = (isWhole) => {
    buttons.forEach((button, index) => button.setAttribute('aria-pressed', String((index === 0) === isWhole)));
  };
  press(true);
  const group = wrap('div', 'sv-clock-zoom', ...buttons);
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', t('clock.zoom'));
  return group;
}

/** Lays the rows of the strip out; the blocks are painted where it leaves room for them. */
export class ClockRows {
  #shares = [];
  #bars = [];
  #axis = make('div', 'sv-clock-axis');
  /** Edges of the bars and the size of all, as they were measured last. */
  edges = [];
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
      const name = make('span', 'sv-clock-name', laneName(lane));
      this.element.append(wrap('p', 'sv-clock-label', name, this.#shares[index]), this.#bars[index]);
    });
    this.element.dataset.lanes = String(lanes.length);
    this.element.append(this.#axis);
  }

  /** Bring the words up to date. */
  show(lanes) {
    lanes.forEach((lane, index) => {
      setText(this.#shares[index], sharesOf(lane));
      this.#shares[index].parentElement.title = sharesOf(lane);
    });
  }

  /** All rows as one text, for those who do not see them. */
  describe(lanes) {
    const told = lanes.map((lane) => t('clock.lane', { lane: laneName(lane), shares: sharesOf(lane) }));
    return [t('clock.about'), ...told].join(' ');
  }

  /** Measure where the bars are; asking makes the browser lay the page out, so not in each frame. */
  measure() {
    const { offsetHeight: height } = this.element;
    this.size = { width: this.#axis.offsetWidth, height, axisTop: this.#axis.offsetTop };
    this.edges = this.#bars.map((bar) => ({ top: bar.offsetTop, height: bar.offsetHeight }));
  }

  /** The lane whose row is at this height, or -1. */
  laneAt(y) {
    return this.edges.findIndex(({ top, height }) => y < top + height);
  }
}

function sharesOf({ clockMs, metrics, isBaseline }) {
  const seconds = decimals(clockMs / 1000, 2);
  if (!metrics?.ms) return t('clock.seconds', { number: seconds });
  const part = (ms) => percent(ms / metrics.ms, 1);
  const { draft_ms: draft, verify_ms: verify, other_ms: other } = metrics;
  const parts = { seconds, draft: part(draft), verify: part(verify), other: part(other) };
  return t(isBaseline ? 'clock.shares_plain' : 'clock.shares', parts);
}

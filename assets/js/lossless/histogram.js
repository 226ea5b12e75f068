// Two histograms beside an exact law, bar by bar, and how far the second is from it while draws come in.
import { make, setText, visible, wrap } from '../page/dom.js';
import { pictureButtons } from '../page/element_picture.js';
import { decimals, percent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { pValue } from './checks.js';
import { FallingCurve } from './falling_curve.js';

/** Draws the bars of next tokens (`next`) or of whole continuations (`continuation`). */
export class Histogram {
  #kind;
  #title = make('h3');
  #list = make('ol', 'sv-hist');
  #sum = make('p', 'sv-hist-sum');
  #test = make('p', 'sv-hist-test');
  #curve;
  #buttons;
  /** @type {Map<string, Bar>} */
  #bars = new Map();
  #pointed = null;
  #off = null;

  constructor(kind) {
    this.#kind = kind;
    this.#curve = new FallingCurve(t(`proof.curve_${kind}`));
    const about = make('p', 'sv-proof-note', t(`proof.${kind}_about`));
    const drawn = wrap('div', 'sv-hist-drawn', legend(), this.#list, this.#sum, this.#test, this.#curve.element);
    this.#buttons = pictureButtons(drawn, `proof-${kind}`, t(`proof.${kind}`));
    const head = wrap('div', 'sv-picture-head', this.#title, this.#buttons);
    this.element = wrap('section', 'sv-hist-part', head, about, drawn);
    this.setLength(null);
    this.clear();
  }

  /** Say of how many tokens a continuation is. */
  setLength(n) {
    setText(this.#title, t(n && this.#kind === 'continuation' ? 'proof.continuation_of' : `proof.${this.#kind}`, { n }));
  }

  clear() {
    this.#bars.clear();
    this.#list.replaceChildren(make('li', 'sv-hist-empty', t('proof.empty')));
    for (const part of [this.#sum, this.#test]) setText(part, '');
    this.#buttons.hidden = true;
    this.#curve.clear();
    this.#pointed = null;
  }

  /** Note how far the round's histogram is from the law after so many draws, and how far luck brings it. */
  note(numDone, variation, bound) {
    this.#curve.add(numDone, variation, bound);
    this.#off = { variation, bound };
  }

  /** Show the bars after so many draws of so many. */
  show(bars, numDone, numAll) {
    const shares = bars.flatMap((bar) => [bar.target_prob, bar.num_alone / numDone, bar.num_lane / numDone]);
    const highest = Math.max(...shares, 0.01);
    const rows = bars.map((bar) => {
      const key = `${bar.ids ?? bar.id} ${bar.is_rest ?? false}`;
      if (!this.#bars.has(key)) this.#bars.set(key, new Bar(nameOf(bar, this.#kind)));
      const row = this.#bars.get(key);
      row.show(bar, numDone, highest);
      return row;
    });
    this.#list.replaceChildren(...rows.map((row) => row.element));
    this.#buttons.hidden = false;
    this.#curve.draw(numAll);
    const { variation, bound } = this.#off;
    const values = { off: percent(variation, 1), luck: percent(bound, 1) };
    setText(this.#sum, t(variation > bound ? 'proof.too_far' : 'proof.near', values));
    this.#sum.classList.toggle('is-off', variation > bound);
    this.point(this.#pointed);
  }

  /** Show the test of these bars. */
  test({ statistic, degrees, p_value: p }) {
    const values = { statistic: decimals(statistic, 1), degrees, p: pValue(p) };
    setText(this.#test, t(degrees ? 'proof.test' : 'proof.no_test', values));
  }

  /** Point at the bar of an index, or at none. */
  point(index) {
    this.#pointed = index;
    [...this.#list.children].forEach((row, at) => row.classList.toggle('is-telltale', at === index));
  }
}

/** One bar of each kind with a mark where the law is, and the numbers. */
class Bar {
  #alone = make('i', 'is-alone');
  #lane = make('i', 'is-checked');
  #mark = make('i', 'sv-hist-mark');
  #values = make('span', 'sv-hist-values');

  constructor(name) {
    const tracks = [this.#alone, this.#lane].map((bar) => wrap('span', 'sv-hist-track', bar));
    const bars = wrap('span', 'sv-hist-bars', ...tracks, this.#mark);
    bars.setAttribute('aria-hidden', 'true');
    const shown = make('span', 'sv-hist-name', name, { title: name });
    this.element = wrap('li', 'sv-hist-row', shown, bars, this.#values);
  }

  show({ target_prob: prob, num_alone: alone, num_lane: lane }, numDone, highest) {
    const shares = [alone / numDone, lane / numDone];
    [this.#alone, this.#lane].forEach((bar, at) => {
      bar.style.width = `${(100 * shares[at]) / highest}%`;
    });
    this.#mark.style.left = `${(100 * prob) / highest}%`;
    const [p, a, l] = [prob, ...shares].map((share) => percent(share, 1));
    setText(this.#values, t('proof.bar', { law: p, alone: a, lane: l }));
  }
}

function nameOf({ text, is_rest: isRest = false }, kind) {
  const shown = kind === 'next' ? visible(text) : text.replaceAll('\n', '⏎').trim();
  if (!isRest) return t('proof.quoted', { text: shown });
  return shown ? t('proof.rest_behind', { text: shown }) : t('proof.rest');
}

function legend() {
  const entries = ['alone', 'lane', 'law'].map((name) =>
    wrap('li', '', make('i', `sv-hist-key is-${name}`, '', { 'aria-hidden': 'true' }), make('span', '', t(`proof.legend_${name}`))),
  );
  return wrap('ul', 'sv-hist-legend', ...entries);
}

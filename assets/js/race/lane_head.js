// The head of a lane: what it runs, how fast it is, how far it has come, its figures, and how it ended.
import { LaneFigures } from './lane_figures.js';
import { make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Draws the head of one lane. */
export class LaneHead {
  #speed = make('strong');
  #count = make('span');
  #why = make('span');
  #loop = make('span', 'sv-lane-loop', '', { hidden: '' });
  #flag = make('p', 'sv-flag');
  #bar = make('div', 'sv-bar');
  #figures;
  #how;
  #max;
  #metrics;

  constructor({ name, about, note = '', isBaseline }, max) {
    this.#max = max;
    this.#figures = isBaseline ? null : new LaneFigures();
    this.element = make('div');
    const facts = wrap('p', 'sv-lane-facts', this.#count, this.#why, this.#loop);
    const track = wrap('div', 'sv-track', this.#bar);
    const title = { title: about };
    const what = wrap('div', 'sv-lane-row', make('h2', '', name, { title: name }), this.#speed);
    this.#how = wrap('div', 'sv-lane-row sv-lane-how', make('p', 'sv-lane-about', about, title), facts);
    const head = wrap('header', 'sv-lane-head', what, this.#how);
    if (this.#figures) head.append(this.#figures.element);
    head.append(this.#flag);
    if (note) head.append(make('p', 'sv-fork-note', note));
    this.element.append(head, track);
    this.#show(null);
  }

  /** Show speed, number of tokens and figures by the newest metrics. */
  show(race, lane) {
    this.#figures?.show(race, lane);
    if (lane.metrics !== this.#metrics) this.#show(lane.metrics);
    this.#showCount(lane.numEmitted);
  }

  /**
   * Say how the lane ended: a flag where its text is whole, else a badge; and a word where it repeats itself.
   */
  end({ why, about, isWhole, repeats, flag }) {
    setText(this.#why, why);
    this.#why.title = about;
    this.#why.className = isWhole ? 'sv-lane-end' : 'sv-badge sv-lane-cut';
    setText(this.#loop, repeats);
    this.#loop.hidden = repeats === '';
    this.#how.classList.toggle('is-cut', !isWhole);
    if (flag) setText(this.#flag, flag);
  }

  #show(metrics) {
    this.#metrics = metrics;
    setText(this.#speed, t('lane.speed', { speed: decimals(metrics?.tokens_per_second, 1) }));
    if (!metrics) this.#showCount(0);
  }

  /** Figures come more seldom than tokens. */
  #showCount(n) {
    setText(this.#count, t('lane.count', { n }));
    this.#bar.style.transform = `scaleX(${Math.min(1, n / this.#max)})`;
  }
}

// The key figures of one lane in one line of its head: where there is no room for tiles in sight of the lanes.
import { FIGURES } from './figure_table.js';
import { doubtOf } from './figure_notes.js';
import { make, setText, wrap } from '../page/dom.js';
import { MISSING, decimals, percent } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Draws the line and keeps it up with the lane's metrics. */
export class LaneFigures {
  #speedup = make('b', 'sv-line-speedup', MISSING);
  #range = make('span', 'sv-line-range');
  #alpha = make('span');
  #tau = make('span');
  #output = make('span');
  #doubt = make('span', 'sv-doubt');
  #shown = null;

  constructor() {
    const title = t('lane.line_speedup');
    const speedup = wrap('span', 'sv-line-first', this.#speedup, this.#range, make('span', 'sv-line-unit', title));
    this.element = wrap('p', 'sv-lane-line', speedup, this.#doubt, this.#alpha, this.#tau, this.#output);
    this.#write({});
  }

  /** Show how a lane stands by the newest figures. */
  show(race, lane) {
    const { metrics } = lane;
    if (!metrics || (this.#shown?.metrics === metrics && this.#shown.isOver === race.isOver)) return;
    this.#shown = { metrics, isOver: race.isOver };
    setText(this.#speedup, FIGURES.speedup.value(race, lane));
    setText(this.#range, FIGURES.speedup.range(race, lane));
    this.#write(metrics);
    setText(this.#output, race.isOver ? FIGURES.lossless.value(race, lane) : '');
    this.element.classList.toggle('is-slower', lane.isSlower);
    const doubt = doubtOf(lane);
    setText(this.#doubt, doubt?.name ?? '');
    this.#doubt.title = doubt?.about ?? '';
  }

  #write({ alpha = null, num_accepted: accepted = 0, num_rejected: rejected = 0, tau = null }) {
    const counts = { accepted, judged: accepted + rejected };
    setText(this.#alpha, t('lane.line_alpha', { value: percent(alpha), ...counts }));
    setText(this.#tau, t('lane.line_tau', { value: decimals(tau, 2) }));
  }
}

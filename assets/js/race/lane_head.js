// The head of a lane: what it runs, how fast it is, how far it has come, and why it ended.
import { make, setText } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Draws the head of one lane. */
export class LaneHead {
  #speed = make('strong');
  #count = make('span');
  #why = make('span');
  #loop = make('span', 'sv-lane-loop', '', { hidden: '' });
  #bar = make('div', 'sv-bar');
  #max;
  #metrics;

  constructor({ name, about }, max) {
    this.#max = max;
    this.element = make('div');
    const head = make('header', 'sv-lane-head');
    const facts = make('p', 'sv-lane-facts');
    facts.append(this.#count, this.#why, this.#loop);
    const track = make('div', 'sv-track');
    track.append(this.#bar);
    head.append(make('h2', '', name), this.#speed, make('p', '', about), facts);
    this.element.append(head, track);
    this.show(null);
  }

  /** Show speed and number of tokens by the newest figures; null before any. */
  show(lane) {
    if (lane && lane.metrics === this.#metrics) return;
    this.#metrics = lane?.metrics ?? null;
    const { tokens_per_second: speed = null, num_emitted: n = 0 } = lane?.metrics ?? {};
    setText(this.#speed, t('lane.speed', { speed: decimals(speed, 1) }));
    setText(this.#count, t('lane.count', { n }));
    this.#bar.style.transform = `scaleX(${Math.min(1, n / this.#max)})`;
  }

  /** Say why the lane ended; a badge tells where its text is not whole, and a word where it repeats itself. */
  end({ why, about, isWhole, repeats }) {
    setText(this.#why, why);
    this.#why.title = about;
    setText(this.#loop, repeats);
    this.#loop.hidden = repeats === '';
    this.#why.className = isWhole ? 'sv-lane-end' : 'sv-badge sv-lane-cut';
  }
}

// The head of a lane: what it runs, how fast it is, how far it has come, and why it ended.
import { make, setText } from '../core/dom.js';
import { t, tell } from '../core/strings.js';

/** Draws the head of one lane. */
export class LaneHead {
  #speed = make('strong');
  #count = make('span');
  #why = make('span');
  #bar = make('div', 'sv-bar');
  #max;

  constructor(spec, max) {
    this.#max = max;
    this.element = make('div');
    const head = make('header', 'sv-lane-head');
    const facts = make('p', 'sv-lane-facts');
    facts.append(this.#count, this.#why);
    const track = make('div', 'sv-track');
    track.append(this.#bar);
    head.append(make('h2', '', tell(spec.name)), this.#speed, make('p', '', tell(spec.about)), facts);
    this.element.append(head, track);
    this.show({ speed: '–', tokens: 0 });
  }

  /** Show speed and number of tokens so far. */
  show(figures) {
    setText(this.#speed, t('lane.speed', { speed: figures.speed }));
    setText(this.#count, t('lane.count', { n: figures.tokens }));
    this.#bar.style.transform = `scaleX(${Math.min(1, figures.tokens / this.#max)})`;
  }

  /** Say why the lane ended; a badge tells where its text is not whole. */
  end(why, isWhole) {
    setText(this.#why, why);
    this.#why.className = isWhole ? 'sv-lane-end' : 'sv-badge sv-lane-cut';
  }
}

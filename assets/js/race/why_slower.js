// "Why can that be?": a slower lane's own sum, and what would help, in place below the race's closing sentence.
import { isTree, keyOf, laneName } from '../model/names.js';
import { make, makeButton, wrap } from '../page/dom.js';
import { decimals, finePercent, percent, plain, times } from '../page/numbers.js';
import { t } from '../page/strings.js';

const LESSON = 'loses';

/** A button that is there where a lane was slower, and the answer that it opens. */
export class WhySlower {
  #lanes = [];
  #startLesson;
  button;
  element;

  /** `startLesson(id)` takes a visitor through a lesson; null where there is none. */
  constructor(id, startLesson) {
    this.#startLesson = startLesson;
    const attributes = { hidden: '', 'aria-expanded': 'false', 'aria-controls': id };
    this.button = makeButton(t('status.why_slower'), () => this.#toggle(), 'sv-link sv-why-slower', attributes);
    this.element = make('section', 'sv-slower', '', { id, hidden: '', 'aria-label': t('status.why_slower') });
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      this.#toggle();
      this.button.focus();
    });
  }

  /** Offer the answer to a race that is over; an answer to another race is closed. */
  show(race) {
    const lanes = race.isOver ? race.drafting.filter((lane) => lane.slowness) : [];
    if (lanes.length === this.#lanes.length && lanes.every((lane, index) => lane === this.#lanes[index])) return;
    this.#lanes = lanes;
    this.button.hidden = lanes.length === 0;
    if (!this.element.hidden) this.#toggle();
  }

  #toggle() {
    const isOpen = this.element.hidden && this.#lanes.length > 0;
    if (isOpen) this.#draw();
    this.element.hidden = !isOpen;
    this.button.setAttribute('aria-expanded', String(isOpen));
  }

  #draw() {
    const answers = this.#lanes.map((lane) => answer(lane, this.#lanes.length > 1));
    const lesson = makeButton(t('slower.lesson'), () => this.#startLesson(LESSON), 'sv-link');
    this.element.replaceChildren(...answers, ...(this.#startLesson ? [lesson] : []));
  }
}

function answer(lane, isNamed) {
  const sum = wrap('div', '', make('p', '', tellSum(lane)));
  if (isNamed) sum.prepend(make('strong', '', laneName(lane)));
  const remedies = lane.slowness.remedies.map((remedy) => make('li', '', tellRemedy(remedy, lane)));
  const help = wrap('div', '', make('p', '', t('slower.helps')), wrap('ul', '', ...remedies));
  return wrap('div', 'sv-slower-lane', sum, help);
}

/** What a round cost and brought. */
export function tellSum({ slowness, metrics }) {
  const isEveryRound = slowness.num_drafting_rounds === slowness.num_rounds;
  return t(isEveryRound ? 'slower.sum' : 'slower.sum_of_some', {
    guesses: plain(slowness.guesses, 1),
    c: decimals(metrics.draft_cost, 2),
    v: decimals(metrics.verify_cost, 2),
    cost: decimals(slowness.drafting_round_cost, 2),
    mean: decimals(slowness.round_cost, 2),
    tokens: decimals(slowness.tokens_per_round, 2),
    expected: times(slowness.expected_speedup),
    speedup: times(slowness.speedup),
    n: slowness.num_drafting_rounds,
    rounds: slowness.num_rounds,
  });
}

/** One thing that would help; what makes better or cheaper guesses hangs on the method. */
export function tellRemedy({ kind, value, speedup, cost, tokens }, { slowness, metrics, spec }) {
  const numbers = {
    gamma: { gamma: value, own: spec.gamma, speedup: times(speedup) },
    no_gamma: { tokens: decimals(tokens, 2), cost: decimals(cost, 2) },
    cheaper_guess: { value: decimals(value, 3), c: decimals(metrics.draft_cost, 3) },
    better_guess: {
      value: percent(value),
      alpha: percent(metrics.alpha),
      kept: metrics.num_accepted,
      judged: metrics.num_accepted + metrics.num_rejected,
    },
    cheaper_check: {
      places: plain(metrics.num_drafted / slowness.num_drafting_rounds + 1, 1),
      v: decimals(metrics.verify_cost, 2),
      speedup: times(speedup),
    },
    more_guesses: { n: slowness.num_drafting_rounds, rounds: slowness.num_rounds },
    quiet_machine: { value: finePercent(value) },
  };
  const isOfMethod = kind === 'cheaper_guess' || kind === 'better_guess';
  const who = isTree(spec) ? 'tree' : keyOf(spec.method);
  return t(isOfMethod ? `slower.${kind}_${who}` : `slower.${kind}`, numbers[kind]);
}

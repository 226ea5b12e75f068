// Turns what a visitor does on the page into happenings, the one language that lessons understand.
import { onNews } from './sandbox_news.js';

/**
 * Call `tell(happening)` for each: `{kind: 'started'}` a race began;
 * `{kind: 'race', isSlower, isIdentical, methods, gammas, bestGamma}` a race reached its end, with
 * all draft lengths raced in this visit; `{kind: 'token', fate, isGreedy}` a token was chosen;
 * `{kind: 'held'}` a round was shown by itself; `{kind: LAB, …}` something was done in a lab.
 */
export function watch({ store, pacer }, facts, tell) {
  const race = new RaceWatch();
  store.subscribe((items) => {
    race.take(items);
    if (items.some((item) => item.k === 'start')) tell({ kind: 'started' });
    if (pacer.isPaused && items.some((item) => item.k === 'round')) tell({ kind: 'held' });
  });
  facts.subscribe(() => {
    if (race.isOver) tell(race.happening());
  });
  onNews((lab, detail) => {
    if (lab === 'curve') race.bestGamma = detail.best;
    tell({ kind: lab, ...detail });
  });
  const choose = (token) => {
    if (token) tell({ kind: 'token', fate: token.dataset.fate, isGreedy: race.isGreedy });
  };
  document.addEventListener('click', (event) => choose(event.target.closest('.sv-t')));
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    const active = event.target.closest('[role=listbox]')?.getAttribute('aria-activedescendant');
    choose(active && document.getElementById(active)?.closest('.sv-t'));
  });
}

/** The race that is shown, as far as it has come. */
class RaceWatch {
  #lanes = [];
  #figures = [];
  #gammas = new Set();
  bestGamma = 0;
  isGreedy = true;
  isOver = false;

  take(items) {
    for (const item of items) {
      if (item.k === 'reset') this.isOver = false;
      if (item.k === 'figures') this.#figures = item.lanes;
      if (item.k === 'status') this.isOver = item.state === 'finished';
      if (item.k === 'start') {
        this.#lanes = item.lanes;
        this.isGreedy = item.greedy;
      }
    }
  }

  happening() {
    const guessing = this.#lanes.filter((lane) => !lane.plain);
    const figures = this.#figures.filter((_, lane) => !this.#lanes[lane]?.plain);
    for (const lane of guessing) this.#gammas.add(lane.gamma);
    return {
      kind: 'race',
      isSlower: figures.some((each) => each.is_slower),
      isIdentical: figures.every((each) => each.lossless?.[0]?.id === 'output.identical'),
      methods: new Set(guessing.map((lane) => lane.method)),
      gammas: this.#gammas,
      bestGamma: this.bestGamma,
    };
  }
}

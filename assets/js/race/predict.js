// A prediction before the race: which lane wins, and by how much? Locked while it runs, told at its end.
import { Ballot } from './ballot.js';
import { current, onChange } from '../controls/settings.js';
import { aboutLane, laneName, methodName } from '../model/names.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { VISIT, remember, remembered } from '../page/memory.js';
import { times } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { showVerdict } from './verdict_line.js';

const OPEN_KEY = 'specviz-predict';
const SCORE_KEY = 'specviz-predictions';
/** The ranges of the best speedup, as keys of the texts `predict.range_NAME`, and where each begins. */
const RANGES = { slower: 0, little: 1, well: 1.5, double: 2, triple: 3 };

/** Draw the questions about the panel's next race. */
export function mountPredict(container, data, { name, playback }) {
  const prediction = new Prediction(container, name);
  playback.follow((race, isNew) => {
    // Votes are on the race that waits, not on what is watched meanwhile.
    if (!playback.aside) prediction.take(race, isNew);
  });
  onChange((settings) => prediction.prepare(settings));
}

/** It is `open` for votes, `locked` while a race runs, and `told` once its votes were judged. */
class Prediction {
  #panel;
  #state = 'open';
  #who = new Ballot(() => this.#voted());
  #howMuch = new Ballot(() => this.#voted());
  #isContest = false;
  #hasLanes = false;
  /** The best speedup that the choices are marked with. */
  #marked = null;
  #score = readScore();
  #title = make('summary');
  #points = make('span', 'sv-predict-score');
  #told = make('p', 'sv-predict-told');
  #again = makeButton(t('predict.again'), () => {
    this.prepare(current());
    this.#title.focus();
  });
  #spoken = make('p', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });

  constructor(container, panel) {
    this.#panel = panel;
    const details = make('details', 'sv-predict');
    details.open = remembered(OPEN_KEY) === 'open';
    details.addEventListener('toggle', () => remember(OPEN_KEY, details.open ? 'open' : 'closed'));
    this.#title.append(make('span', 'sv-predict-title', t('predict.title')), this.#points);
    const foot = wrap('div', 'sv-predict-foot', this.#told, this.#again);
    details.append(this.#title, this.#who.element, this.#howMuch.element, foot);
    container.append(details, this.#spoken);
    this.#enter('open', t('predict.help'));
  }

  /** Ask about the race that the settings describe. */
  prepare({ target, lanes }) {
    if (this.#state === 'locked') return;
    if (this.#state === 'told') {
      this.#clear();
      this.#enter('open', t('predict.help'));
    }
    const specs = [{ method: 'baseline', target }, ...lanes];
    this.#ask(specs.map((spec) => ({ name: spec.name ?? methodName(spec.method), about: aboutLane(spec) })));
  }

  take(race, isNew) {
    if (isNew) this.#hasLanes = false;
    if (this.#state !== 'locked' && race.isBusy && !this.#hasLanes) this.#lock();
    if (race.lanes.length && !this.#hasLanes && this.#state === 'locked') {
      this.#hasLanes = true;
      this.#ask(race.lanes.map((lane) => ({ name: laneName(lane), about: aboutLane(lane.spec) })));
    }
    if (this.#state !== 'locked') return;
    if (race.isOver) this.#end(race);
    else if (race.bestSpeedup !== this.#marked) this.#mark(race, 'now', 'predict.leads', 'predict.now');
  }

  #ask(lanes) {
    this.#isContest = lanes.length > 2;
    this.#who.element.hidden = !this.#isContest;
    this.#who.ask(t('predict.which'), lanes);
    this.#howMuch.ask(
      t(this.#isContest ? 'predict.how_much_best' : 'predict.how_much'),
      Object.keys(RANGES).map((name) => ({ name: t(`predict.range_${name}`) })),
    );
  }

  #lock() {
    if (this.#state === 'told') this.#clear();
    this.#enter('locked', t('predict.locked'));
  }

  /** Votes are judged by a race that reached its end; after any other they stay. */
  #end(race) {
    const votes = this.#numVotes();
    for (const each of [this.#who, this.#howMuch]) each.mark([], '', '');
    if (votes && race.status.state === 'finished' && race.bestSpeedup !== null) {
      this.#judge(race, votes);
      return;
    }
    this.#enter('open', t(votes ? 'predict.void' : 'predict.help'));
    const sentence = this.#told.textContent;
    this.prepare(current());
    setText(this.#told, sentence);
  }

  #judge(race, votes) {
    const { leaders, range, speedup } = standingOf(race);
    const who = this.#isContest ? this.#who.total(leaders) : 0;
    const howMuch = this.#howMuch.total([range]);
    const right = who + howMuch;
    this.#score.right += right;
    this.#score.votes += votes;
    remember(SCORE_KEY, JSON.stringify(this.#score), VISIT);
    const totals = { who: this.#isContest ? this.#who.total() : 0, howMuch: this.#howMuch.total() };
    this.#enter('told', verdict(speedup, { who, howMuch }, totals));
    this.#mark(race, 'right', 'predict.won', 'predict.right');
  }

  /** Show on the choices where the race stands. */
  #mark(race, state, who, howMuch) {
    this.#marked = race.bestSpeedup;
    if (race.bestSpeedup === null) return;
    const { leaders, range, speedup } = standingOf(race);
    this.#who.mark(leaders, state, t(who));
    this.#howMuch.mark([range], state, t(howMuch, { speedup }));
  }

  #clear() {
    this.#who.clear();
    this.#howMuch.clear();
  }

  #enter(state, sentence) {
    const isNews = state === 'told' || sentence === t('predict.void');
    showVerdict(this.#panel, isNews ? sentence : '');
    this.#state = state;
    for (const each of [this.#who, this.#howMuch]) each.lock(state !== 'open');
    this.#again.hidden = state !== 'told';
    setText(this.#told, sentence);
    if (isNews) setText(this.#spoken, sentence);
    const { right, votes } = this.#score;
    setText(this.#points, votes ? t('predict.score', { right, n: votes }) : '');
  }

  #voted() {
    setText(this.#told, t('predict.help'));
    setText(this.#spoken, t('predict.votes', { n: this.#numVotes() }));
  }

  #numVotes() {
    return (this.#isContest ? this.#who.total() : 0) + this.#howMuch.total();
  }
}

/** Which lanes lead, in which range the best speedup lies as it is shown, and that speedup. */
function standingOf(race) {
  const shown = Math.round(100 * race.bestSpeedup) / 100;
  const best = race.bestSpeedup < 1 ? race.bestSpeedup : Math.max(1, shown);
  return {
    leaders: race.leaders.map((lane) => lane.index),
    range: Object.values(RANGES).findLastIndex((bound) => best >= bound),
    speedup: times(race.bestSpeedup),
  };
}

/** What became of the votes on each question, in one sentence. */
function verdict(speedup, right, totals) {
  const n = totals.who + totals.howMuch;
  if (n === 1) return t(right.who + right.howMuch ? 'predict.result_right' : 'predict.result_wrong', { speedup });
  const parts = Object.keys(totals)
    .filter((question) => totals[question])
    .map((question) => t(`predict.result_${question}`, { right: right[question], n: totals[question] }));
  return t('predict.result', { speedup, parts: parts.join(', ') });
}

/** Right and judged predictions of this visit; they outlive a reload. */
function readScore() {
  try {
    const { right, votes } = JSON.parse(remembered(SCORE_KEY, VISIT)) ?? {};
    if (Number.isInteger(right) && right <= votes) return { right, votes };
  } catch {
    // Somebody may have written other things there.
  }
  return { right: 0, votes: 0 };
}

// A prediction before the race: which lane wins, and by how much? Locked while it runs, told at its end.
import { Ballot } from './ballot.js';
import { make, setText } from '../core/dom.js';
import { remember, remembered } from '../core/memory.js';
import { BUSY } from '../core/pacer.js';
import { Score } from './score.js';
import { current, onChange } from '../controls/settings.js';
import { RANGES, standingOf } from './standing.js';
import { t, tell } from '../core/strings.js';

const OPEN_KEY = 'specviz-predict';

/** Draw the questions about the scene's next race. */
export function mountPredict(place, data, { store }) {
  const prediction = new Prediction(place);
  store.subscribe((items) => prediction.take(items));
  onChange((settings) => prediction.prepare(settings));
}

/** It is `open` for votes, `locked` while a race runs, and `told` once its votes were judged. */
class Prediction {
  #state = 'open';
  #who = new Ballot(() => this.#voted());
  #howMuch = new Ballot(() => this.#voted());
  #isContest = false;
  #figures = null;
  #settings = '';
  #score = new Score();
  #title = make('summary');
  #points = make('span', 'sv-predict-score');
  #told = make('p', 'sv-predict-told');
  #again = make('button', 'sv-button', t('predict.again'), { type: 'button' });
  #spoken = make('p', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });

  constructor(place) {
    const details = make('details', 'sv-predict');
    details.open = remembered(OPEN_KEY) === 'open';
    details.addEventListener('toggle', () => remember(OPEN_KEY, details.open ? 'open' : 'closed'));
    this.#title.append(make('span', 'sv-predict-title', t('predict.title')), this.#points);
    const foot = make('div', 'sv-predict-foot');
    foot.append(this.#told, this.#again);
    details.append(this.#title, this.#who.element, this.#howMuch.element, foot);
    place.append(details, this.#spoken);
    this.#again.addEventListener('click', () => {
      this.#askAnew();
      this.#title.focus();
    });
    this.#enter('open', t('predict.help'));
  }

  /** Ask about the race that the settings describe, once they are others than before. */
  prepare(settings) {
    const written = JSON.stringify(settings);
    if (this.#state === 'locked' || written === this.#settings) return;
    this.#settings = written;
    if (this.#state === 'told') {
      this.#clear();
      this.#enter('open', t('predict.help'));
    }
    const alone = { name: t('lane.baseline'), about: t('lane.about_alone', settings) };
    this.#ask([alone, ...settings.lanes.map(chosenLane)]);
  }

  /** Go back from the race that was shown to the one that comes next. */
  #askAnew() {
    this.#settings = '';
    this.prepare(current());
  }

  take(items) {
    for (const item of items) {
      if (item.k === 'reset') this.#lock();
      else if (item.k === 'start') this.#ask(item.lanes.map(startedLane));
      else if (item.k === 'figures') this.#figures = item;
      else if (item.k === 'status' && !BUSY.has(item.state)) this.#end(item.state);
    }
    if (this.#state === 'locked') this.#markStanding();
  }

  #ask(lanes) {
    this.#isContest = lanes.length > 2;
    this.#who.element.hidden = !this.#isContest;
    this.#who.ask(t('predict.which'), lanes);
    this.#howMuch.ask(
      t(this.#isContest ? 'predict.how_much_best' : 'predict.how_much'),
      RANGES.map((name) => ({ name: t(`predict.range_${name}`) })),
    );
  }

  #lock() {
    if (this.#state === 'told') this.#clear();
    this.#figures = null;
    this.#enter('locked', t('predict.locked'));
  }

  /** Votes are judged by a race that reached its end; after any other they stay. */
  #end(state) {
    if (this.#state !== 'locked') return;
    const standing = state === 'finished' && this.#figures ? standingOf(this.#figures) : null;
    const votes = this.#numVotes();
    for (const each of [this.#who, this.#howMuch]) each.mark([], '', '');
    if (votes && standing) this.#judge(standing, votes);
    else {
      this.#enter('open', t(votes ? 'predict.void' : 'predict.help'));
      this.#askAnew();
    }
  }

  #judge({ best, range, leaders }, votes) {
    const right = (this.#isContest ? this.#who.total(leaders) : 0) + this.#howMuch.total([range]);
    this.#score.add(right, votes);
    this.#enter('told', verdict(best, right, votes));
    this.#who.mark(leaders, 'right', t('predict.won'));
    this.#howMuch.mark([range], 'right', t('predict.right', { speedup: best }));
  }

  /** Show on the choices where the race stands now. */
  #markStanding() {
    const standing = this.#figures && standingOf(this.#figures);
    if (!standing) return;
    this.#who.mark(standing.leaders, 'now', t('predict.leads'));
    this.#howMuch.mark([standing.range], 'now', t('predict.now', { speedup: standing.best }));
  }

  #clear() {
    this.#who.clear();
    this.#howMuch.clear();
  }

  #enter(state, sentence) {
    const isNews = state === 'told' || sentence === t('predict.void');
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

/** What became of the votes, in one sentence. */
function verdict(speedup, right, n) {
  if (n > 1) return t('predict.result', { speedup, right, n });
  return t(right ? 'predict.result_right' : 'predict.result_wrong', { speedup });
}

/** A lane as the settings describe it. */
function chosenLane({ method, draft, gamma, exit_layer: layer }) {
  const key = method.replaceAll('-', '_');
  const about = method === 'early-exit' && layer ? 'exit_layer' : key;
  return { name: t(`lane.${key}`), about: t(`lane.about_${about}`, { draft, gamma, layer }) };
}

/** A lane as the race that runs describes it. */
function startedLane({ name, about }) {
  return { name: tell(name), about: tell(about) };
}

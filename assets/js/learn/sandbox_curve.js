// The predicted speedup over γ for α, c and v to be moved; the real race stands beside its prediction.
import { make, setText } from '../core/dom.js';
import { announce } from './sandbox_news.js';
import { Slider, makeButton, makeLab, twoDigits } from './sandbox_parts.js';
import { ask } from '../core/server.js';
import { t, tell } from '../core/strings.js';

const FIRST = { alpha: 0.8, cost: 0.1, check: 1.2 };
const SPANS = {
  alpha: { min: 0, max: 1, step: 0.01, format: twoDigits },
  cost: { min: 0, max: 1, step: 0.01, format: twoDigits },
  check: { min: 0.5, max: 3, step: 0.01, format: twoDigits },
};
const LOWEST_TOP = 2;
const HEADROOM = 1.12;
const WAIT_MS = 60;

/** Draw the lab; `race(gamma)` sets the page up to race that draft length. */
export function makeCurve(facts, race) {
  return new Curve(facts, race).element;
}

class Curve {
  #facts;
  #sliders = {};
  #bars = make('div', 'sv-curve-bars');
  #chart = make('div', 'sv-curve', '', { role: 'img' });
  #best = make('p', 'sv-curve-best', '', { role: 'status' });
  #run = make('p', 'sv-source');
  #race;
  #bestGamma = 0;
  #timer = 0;
  #isTouched = false;

  constructor(facts, race) {
    this.#facts = facts;
    this.element = makeLab('curve');
    const sliders = make('div', 'sv-sliders');
    for (const [name, span] of Object.entries(SPANS)) {
      this.#sliders[name] = new Slider(t(`learn.curve_${name}`), span, () => this.#moved());
      this.#sliders[name].set(FIRST[name]);
      sliders.append(this.#sliders[name].element);
    }
    const row = make('div', 'sv-lab-buttons');
    const own = makeButton(t('learn.curve_reset'), () => this.#own());
    this.#race = makeButton('', () => race(this.#bestGamma));
    this.#race.hidden = true;
    row.append(this.#race, own);
    this.#chart.append(this.#bars);
    const drawn = make('div', 'sv-curve-drawn');
    drawn.append(this.#chart, make('p', 'sv-curve-axis', t('learn.curve_gamma')));
    const side = make('div', 'sv-curve-side');
    side.append(this.#best, this.#run, sliders, row);
    this.element.append(drawn, side);
    facts.subscribe(() => {
      own.disabled = !facts.lane;
      if (this.#isTouched || !facts.lane) this.#predict(false);
      else this.#own();
    });
  }

  #own() {
    const { lane } = this.#facts;
    this.#isTouched = false;
    this.#sliders.alpha.set(lane.alpha);
    this.#sliders.cost.set(lane.draft_cost);
    this.#sliders.check.set(lane.verify_cost);
    this.#predict(false);
  }

  #moved() {
    this.#isTouched = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#predict(true), WAIT_MS);
  }

  async #predict(wasMoved) {
    const asked = Object.keys(SPANS).map((name) => this.#sliders[name].value);
    const answer = await ask('predicted', ...asked);
    const now = Object.keys(SPANS).map((name) => this.#sliders[name].value);
    if (String(now) !== String(asked)) return;
    if (answer.error) return setText(this.#best, tell(answer.error));
    this.#draw(answer);
    announce('curve', { wasMoved, best: answer.best });
  }

  #draw({ speedups, best }) {
    const run = this.#facts.lane;
    const measured = run?.speedup ?? 0;
    const top = Math.max(LOWEST_TOP, measured, ...speedups) * HEADROOM;
    const columns = speedups.map((speedup, place) => column(place + 1, speedup, top, best));
    if (measured && columns[run.gamma - 1]) columns[run.gamma - 1].append(point(measured, top));
    const even = make('span', 'sv-curve-even', '1×');
    even.style.bottom = `${100 / top}%`;
    this.#bars.replaceChildren(even, ...columns);
    this.#tell(speedups, best, run);
  }

  #tell(speedups, best, run) {
    const shown = best && { gamma: best, speedup: speedups[best - 1].toFixed(2) };
    const told = best ? t('learn.curve_best', shown) : t('learn.curve_none');
    setText(this.#best, told);
    this.#chart.setAttribute('aria-label', t('learn.curve_about', { told }));
    this.#bestGamma = best;
    this.#race.hidden = !best;
    if (best) setText(this.#race, t('learn.curve_race', { gamma: best }));
    const about = run && { name: run.name, gamma: run.gamma, speedup: run.speedup?.toFixed(2) };
    setText(this.#run, run?.speedup ? t('learn.curve_run', about) : '');
  }
}

function column(gamma, speedup, top, best) {
  const box = make('span', `sv-curve-column ${gamma === best ? 'is-best' : ''}`.trim());
  const bar = make('i', 'sv-curve-bar');
  bar.style.height = `${(100 * speedup) / top}%`;
  if (gamma === best) bar.append(make('b', '', '★'));
  box.append(bar, make('small', '', String(gamma)));
  return box;
}

function point(speedup, top) {
  const dot = make('span', 'sv-curve-point', '◆');
  dot.style.bottom = `${(100 * speedup) / top}%`;
  return dot;
}

// The labs about costs: of one round, and of every draft length.
import { aboutDevice, laneName } from '../model/names.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { decimals, plain } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { ask } from '../wire/server.js';
import { LEAST_CHECK, noiseOf } from './facts.js';
import { announce, onLesson } from './happenings.js';
import { Sliders } from './sliders.js';

/** One of our sources counts "600 ms for three tokens alone, 250 ms with speculation". */
const FIRST_ROUND = { pass: 200, draft: 25, check: 1, guesses: 2, kept: 2 };
/** Below this share a factor of speed reads better turned round. */
const HOPELESS = 0.5;
const ROUND_SPANS = {
  pass: { min: 1, max: 400, step: 0.1, format: ms },
  draft: { min: 0.1, max: 200, step: 0.1, format: ms },
  check: { min: LEAST_CHECK, max: 3, step: 0.01 },
  guesses: { min: 1, max: 16, step: 1, format: plain },
  kept: { min: 0, max: 16, step: 1, format: plain },
};
/** A block that takes less of the row than this carries no number. */
const SMALLEST_SHARE = 1 / 12;
const FIRST_CURVE = { alpha: 0.8, cost: 0.1, check: 1.2 };
const CURVE_SPANS = {
  alpha: { min: 0, max: 0.99, step: 0.01 },
  cost: { min: 0.01, max: 1, step: 0.01 },
  check: { min: LEAST_CHECK, max: 3, step: 0.01 },
};
const LOWEST_TOP = 2;
const HEADROOM = 1.12;
const WAIT_MS = 60;

/** The arithmetic of one round as two strips of blocks: the same tokens alone and with guesses. */
export function makeStrip(facts) {
  return new Strip(facts).elements;
}

/** The predicted speedup over γ beside a real race's; `race(gamma)` sets that draft length up. */
export function makeCurve(facts, race) {
  return new Curve(facts, race).elements;
}

class Strip {
  #facts;
  #sliders = new Sliders('strip', ROUND_SPANS, () => this.#moved());
  #alone = stripLine('alone');
  #together = stripLine('together');
  #told = make('p', 'sv-strip-told', '', { role: 'status' });
  #note = make('p', 'sv-source');

  constructor(facts) {
    this.#facts = facts;
    const own = makeButton(t('learn.strip_own'), () => this.#showRace());
    const reset = makeButton(t('learn.strip_reset'), () => this.#take(FIRST_ROUND, ''));
    const buttons = wrap('div', 'sv-lab-buttons', own, reset);
    const lines = [this.#alone.element, this.#together.element];
    this.elements = [...lines, this.#told, this.#sliders.element, buttons, this.#note];
    this.#take(FIRST_ROUND, '');
    onLesson('strip', () => this.#take(FIRST_ROUND, ''));
    facts.subscribe(() => {
      own.disabled = !facts.lane;
    });
  }

  /** Take the times of the last race over. */
  #showRace() {
    const { lane, stepMs, race } = this.#facts;
    const { tau, draft_cost: cost, verify_cost: measured } = lane.metrics;
    const kept = Math.round(tau - 1);
    const about = { name: laneName(lane), place: aboutDevice(race.started.environment) };
    const note = t('learn.strip_own_note', { ...about, kept: decimals(tau - 1, 1) });
    const check = Math.max(LEAST_CHECK, measured);
    const values = { pass: stepMs, draft: cost * stepMs, check, guesses: lane.spec.gamma, kept };
    this.#take(values, `${note} ${noiseOf(measured)}`.trim());
    announce({ kind: 'strip', isOwn: true, isSlower: false });
  }

  #take(values, note) {
    this.#sliders.setMax('kept', values.guesses);
    this.#sliders.setMax('draft', values.pass);
    this.#sliders.set(values);
    setText(this.#note, note);
    this.#draw();
  }

  /** No more guesses are kept than were made, and none costs more than the target itself. */
  #moved() {
    this.#sliders.setMax('kept', this.#sliders.values.guesses);
    this.#sliders.setMax('draft', this.#sliders.values.pass);
    announce({ kind: 'strip', isOwn: false, isSlower: this.#draw() < 1 });
  }

  /** Draw both lines; gives the speedup. */
  #draw() {
    const { pass, draft, check, guesses, kept } = this.#sliders.values;
    const tokens = kept + 1;
    const [alone, together] = [tokens * pass, guesses * draft + check * pass];
    const longest = Math.max(alone, together);
    this.#alone.show(Array(tokens).fill(['target', pass]), longest);
    const drafts = Array(guesses).fill(['draft', draft]);
    this.#together.show([...drafts, ['target', check * pass]], longest);
    const round = { tokens, guesses, pass: ms(pass), draft: ms(draft), check: ms(check * pass) };
    this.#alone.say({ ...round, total: ms(alone) });
    this.#together.say({ ...round, total: ms(together) });
    const speedup = alone / together;
    const result = speedup > 1 ? 'faster' : 'slower';
    const text = speedup === 1 ? 'even' : speedup < HOPELESS ? 'hopeless' : result;
    const shown = { tokens, speedup: decimals(speedup, 2), times: decimals(together / alone, 1) };
    setText(this.#told, t(`learn.strip_${text}`, shown));
    this.#told.dataset.result = result;
    return speedup;
  }
}

/** One line of the strip: its blocks, and their sum as a sentence. */
function stripLine(name) {
  const sum = make('span', 'sv-strip-sum');
  const row = make('div', 'sv-strip-row', '', { 'aria-hidden': 'true' });
  const block = ([who, time], longest) => {
    const text = time > longest * SMALLEST_SHARE ? ms(time) : '';
    const element = make('span', `sv-block is-${who}`, text);
    element.style.width = `${(100 * time) / longest}%`;
    return element;
  };
  return {
    element: wrap('div', 'sv-strip-line', make('b', '', t(`learn.strip_${name}`)), sum, row),
    show: (blocks, longest) => row.replaceChildren(...blocks.map((each) => block(each, longest))),
    say: (values) => setText(sum, t(`learn.strip_${name}_sum`, values)),
  };
}

class Curve {
  #facts;
  #sliders = new Sliders('curve', CURVE_SPANS, () => this.#moved());
  #bars = make('div', 'sv-curve-bars');
  #chart = make('div', 'sv-curve', '', { role: 'img' });
  #best = make('p', 'sv-curve-best', '', { role: 'status' });
  #run = make('p', 'sv-source');
  #noise = make('p', 'sv-source');
  #race;
  #bestGamma = 0;
  #timer = 0;
  #isTouched = false;

  constructor(facts, race) {
    this.#facts = facts;
    this.#sliders.set(FIRST_CURVE);
    this.#race = makeButton('', () => race(this.#bestGamma));
    this.#race.hidden = true;
    const own = makeButton(t('learn.curve_reset'), () => this.#showRace());
    const buttons = wrap('div', 'sv-lab-buttons', this.#race, own);
    this.#chart.append(this.#bars);
    const axis = make('p', 'sv-curve-axis', t('learn.curve_gamma'));
    const side = [this.#best, this.#run, this.#noise, this.#sliders.element, buttons];
    this.elements = [wrap('div', 'sv-curve-drawn', this.#chart, axis), wrap('div', 'sv-curve-side', ...side)];
    facts.subscribe(() => {
      own.disabled = !facts.lane;
      if (this.#isTouched || !facts.lane) this.#predict(false);
      else this.#showRace();
    });
    onLesson('curve', () => this.#begin());
  }

  /** The lab's own numbers: with a low best γ and room for it to move. */
  #begin() {
    this.#isTouched = true;
    this.#sliders.set(FIRST_CURVE);
    setText(this.#noise, '');
    this.#predict(false);
  }

  /** Take the values of the last race over. */
  #showRace() {
    const { alpha, draft_cost: cost, verify_cost: measured } = this.#facts.lane.metrics;
    this.#isTouched = false;
    this.#sliders.set({ alpha, cost, check: Math.max(LEAST_CHECK, measured) });
    setText(this.#noise, noiseOf(measured));
    this.#predict(false);
  }

  #moved() {
    this.#isTouched = true;
    setText(this.#noise, '');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#predict(true), WAIT_MS);
  }

  async #predict(wasMoved) {
    const asked = Object.values(this.#sliders.values);
    const answer = await ask('predicted', ...asked);
    if (String(Object.values(this.#sliders.values)) !== String(asked)) return;
    if (answer.error) return setText(this.#best, sentence(answer.error));
    this.#draw(answer);
    announce({ kind: 'curve', wasMoved, best: answer.best });
  }

  #draw({ speedups, best }) {
    const { lane } = this.#facts;
    const measured = lane?.speedup ?? 0;
    const top = Math.max(LOWEST_TOP, measured, ...speedups) * HEADROOM;
    const columns = speedups.map((speedup, index) => column(index + 1, speedup / top, index + 1 === best));
    if (measured) columns[lane.spec.gamma - 1]?.append(raised('sv-curve-point', '◆', measured / top));
    this.#bars.replaceChildren(raised('sv-curve-even', '1×', 1 / top), ...columns);
    this.#say(speedups, best, lane);
  }

  #say(speedups, best, lane) {
    const shown = { gamma: best, speedup: decimals(speedups[best - 1], 2) };
    const told = best ? t('learn.curve_best', shown) : t('learn.curve_none');
    setText(this.#best, told);
    this.#chart.setAttribute('aria-label', t('learn.curve_about', { told }));
    this.#bestGamma = best;
    this.#race.hidden = !best;
    if (best) setText(this.#race, t('learn.curve_race', { gamma: best }));
    if (!lane?.speedup) return setText(this.#run, '');
    const about = { name: laneName(lane), gamma: lane.spec.gamma, speedup: decimals(lane.speedup, 2) };
    setText(this.#run, t('learn.curve_run', about));
  }
}

function column(gamma, share, isBest) {
  const bar = make('i', 'sv-curve-bar');
  bar.style.height = `${100 * share}%`;
  if (isBest) bar.append(make('b', '', '★'));
  return wrap('span', isBest ? 'sv-curve-column is-best' : 'sv-curve-column', bar, make('small', '', plain(gamma)));
}

/** A sign at this share of the chart's height. */
function raised(className, text, share) {
  const element = make('span', className, text);
  element.style.bottom = `${100 * share}%`;
  return element;
}

/** Milliseconds with the digits they deserve. */
function ms(value) {
  return plain(value, value < 100 ? 1 : 0);
}

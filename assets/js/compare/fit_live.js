// What a fit does just now: its phase, how far it is, α now and before, and what it came to.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { decimals, percent, plain } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { FitCurve } from './fit_curve.js';
import { bestOf } from './fit_news.js';

/** What is done one after the other; reading belongs to writing, since a visitor sees no difference. */
const STEPS = ['writing', 'learning', 'judging'];
const STEP_OF = { writing: 'writing', reading: 'writing', learning: 'learning', judging: 'judging' };

/** Shows one fit; `stop()` asks the server to end it, `race(made)` races what it made. */
export class FitLive {
  #steps = STEPS.map((name) => make('li', '', t(`fitting.step_${name}`)));
  #bar = make('progress', 'sv-fit-bar', '', { 'aria-label': t('fitting.bar') });
  #doing = make('p', 'sv-facts');
  #numbers = make('dl', 'sv-figures sv-fit-live-figures');
  #alphas = { before: tile('alpha_before'), now: tile('alpha_now'), best: tile('alpha_best') };
  #curve;
  #said = make('p', 'sv-fit-result', '', { role: 'status' });
  #stop;
  #race;
  #made = null;

  constructor(plotly, { stop, race }) {
    this.#curve = new FitCurve(plotly);
    this.#stop = makeButton(t('fitting.stop'), stop);
    this.#race = makeButton(t('fitting.race'), () => race(this.#made), 'sv-button is-main');
    this.#numbers.append(...Object.values(this.#alphas).map(({ element }) => element));
    const list = wrap('ol', 'sv-fit-steps', ...this.#steps);
    const lead = make('p', 'sv-facts', t('fitting.steps'));
    const buttons = wrap('div', 'sv-fit-tools', this.#stop, this.#race);
    const parts = [lead, list, this.#bar, this.#doing, this.#numbers, this.#curve.element, this.#said, buttons];
    this.element = wrap('div', 'sv-fit-live', ...parts);
  }

  /** Show how the fit and its task stand. */
  show(fit, task) {
    const { isBusy } = task;
    const current = isBusy ? (STEP_OF[fit.phase] ?? STEPS[0]) : null;
    this.#steps.forEach((step, index) => {
      if (STEPS[index] === current) step.setAttribute('aria-current', 'step');
      else step.removeAttribute('aria-current');
    });
    this.#bar.hidden = !isBusy;
    this.#showBar(fit);
    setText(this.#doing, isBusy ? doing(fit) : '');
    this.#showAlphas(fit);
    this.#curve.element.hidden = !fit.points.length;
    this.#curve.show(fit);
    setText(this.#said, isBusy ? '' : resultOf(fit, task));
    this.#said.dataset.result = fit.made ? 'gain' : 'none';
    this.#made = fit.made;
    this.#stop.hidden = !isBusy;
    setEnabled(this.#stop, task.state === 'running');
    this.#race.hidden = isBusy || fit.made === null;
  }

  #showBar({ done, total }) {
    if (total) [this.#bar.max, this.#bar.value] = [total, done];
    else this.#bar.removeAttribute('value');
  }

  #showAlphas(fit) {
    const [first, last, best] = [fit.points[0], fit.points.at(-1), bestOf(fit)];
    this.#numbers.hidden = !first;
    if (!first) return;
    this.#alphas.before.say(percent(first.alpha, 1));
    this.#alphas.now.say(percent(last.alpha, 1));
    this.#alphas.best.say(percent(best.alpha, 1));
  }
}

/** What is being done, in a sentence, with the time that is left. */
export function doing(fit) {
  if (fit.phase === null) return t('fitting.waits');
  const counts = { done: fit.done, total: fit.total ?? 0, loss: decimals(fit.loss, 2) };
  const known = fit.total ? fit.phase : `${fit.phase}_open`;
  const parts = [t(`fitting.doing_${known}`, counts)];
  if (fit.secondsLeft !== null && fit.phase !== 'judging') parts.push(t('fitting.left', { time: duration(fit.secondsLeft) }));
  return parts.join(' ');
}

/** What the fit came to, once it is over. */
export function resultOf(fit, { state, text }) {
  if (state === 'idle') return '';
  if (state === 'error') return sentence(text);
  if (fit.gain === null) return t('fitting.nothing');
  const alphas = { before: percent(fit.gain.before, 1), after: percent(fit.gain.after, 1) };
  const why = fit.end ? t(`fitting.end_${fit.end.why}`, { step: fit.end.step, best: fit.end.bestStep }) : '';
  if (fit.made === null) return `${t('fitting.no_help', alphas)} ${why}`;
  return `${t('fitting.helped', { ...alphas, name: fit.made.draft.name })} ${why}`;
}

/** Seconds as minutes and seconds. */
function duration(seconds) {
  const whole = Math.round(seconds);
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  return t(minutes ? 'fit.minutes' : 'fit.seconds', { minutes: plain(minutes), seconds: plain(rest) });
}

function tile(name) {
  const value = make('dd', 'sv-value', '–');
  const element = wrap('div', 'sv-figure', make('dt', '', t(`fitting.${name}`)), value);
  return { element, say: (text) => setText(value, text) };
}

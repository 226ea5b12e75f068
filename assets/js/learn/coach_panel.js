// The panel of a lesson: where it stands, what to do now, what was just learned.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { onBusyChange } from '../model/panels.js';
import { LESSONS } from './lessons.js';

/** Draws a lesson; what its buttons do is `acts`: close, show, setUp, race, watch, on, next, all. */
export class CoachPanel {
  #acts;
  #numbers;
  #recordings;
  /** Buttons that start something, which waits until no race goes on. */
  #starters = [];
  #isBusy = false;
  #number = make('p', 'sv-coach-number');
  #title = make('h2', 'sv-coach-title', '', { tabindex: '-1' });
  #body = make('div', 'sv-coach-body');
  #spoken = make('p', 'sv-spoken', '', { role: 'status' });
  #fold = makeButton('', () => this.#setFolded(!this.#body.hidden), 'sv-coach-icon');

  /** `numbers` are those of the lessons' texts, `recordings` the races that are there to be played. */
  constructor(acts, numbers, recordings) {
    this.#acts = acts;
    this.#numbers = numbers;
    this.#recordings = recordings;
    this.element = make('section', 'sv-coach', '', { 'aria-label': t('coach.name'), hidden: '' });
    const name = { title: t('coach.close'), 'aria-label': t('coach.close') };
    const close = makeButton('✕', acts.close, 'sv-coach-icon', name);
    const titles = wrap('div', '', this.#number, this.#title);
    this.element.append(wrap('header', 'sv-coach-head', titles, this.#fold, close), this.#body, this.#spoken);
    new ResizeObserver(() => this.#noteHeight()).observe(this.element);
    onBusyChange((isBusy) => {
      this.#isBusy = isBusy;
      for (const starter of this.#starters) setEnabled(starter, !isBusy);
    });
  }

  /** Open the panel for a lesson, and go there. */
  open(lesson) {
    const number = LESSONS.indexOf(lesson) + 1;
    setText(this.#number, t('coach.number', { number, count: LESSONS.length }));
    setText(this.#title, t(`lesson.${lesson.id}_title`));
    this.element.hidden = false;
    this.#setFolded(false);
    this.#title.focus({ preventScroll: true });
  }

  /** Put the panel away. */
  close() {
    this.element.hidden = true;
    this.#noteHeight();
  }

  /** Draw the step `at` of `steps`; `state` holds `note`, `wasSet`, `isOther`, `hasBegun`, `isElsewhere`, `refusal`. */
  draw(lesson, steps, at, state) {
    const step = steps[at];
    const read = [];
    if (at === 0) read.push(make('p', 'sv-coach-text', t(`lesson.${lesson.id}_text`, this.#numbers)));
    if (state.note?.length) read.push(noteList(state.note));
    const parts = [progressBar(at, steps.length)];
    // What is to be read scrolls where it is long; what is to be done stays in sight.
    if (read.length) parts.push(this.#reading(read));
    if (!step) parts.push(...this.#ending(lesson));
    else if (step.belief) parts.push(makeBelief(step.belief, this.#acts.on));
    else parts.push(...this.#task(lesson, step, state));
    const hadFocus = this.#body.contains(document.activeElement);
    this.#body.replaceChildren(...parts);
    this.#body.scrollTop = 0;
    if (hadFocus) this.#title.focus({ preventScroll: true });
  }

  /** Say to those who listen that a step is done, and what comes next. */
  speak(lesson, step) {
    let text = t('coach.finished');
    if (step?.belief) text = t('coach.question');
    else if (step) text = t(`lesson.${lesson.id}_${step.id}`);
    setText(this.#spoken, t('coach.told_done', { text }));
  }

  #task(lesson, step, { wasSet, hasBegun, isOther, isElsewhere, refusal }) {
    const row = make('div', 'sv-coach-buttons');
    this.#starters = [];
    if (step.preset) row.append(this.#starter('race', this.#acts.race, true), button('setup', this.#acts.setUp));
    if (this.#recordings.includes(step.recording)) row.append(this.#starter('watch', this.#acts.watch));
    if (step.at && isElsewhere) row.append(button('go', this.#acts.show, !step.preset));
    else if (step.at) row.append(button('show', this.#acts.show));
    if (step.done) row.append(button('skip', this.#acts.on));
    else row.append(button('understood', this.#acts.on, true));
    const parts = [make('p', 'sv-coach-step', t(`lesson.${lesson.id}_${step.id}`))];
    if (isOther) parts.push(make('p', 'sv-coach-other', t('coach.other_race'), { role: 'status' }));
    else if (wasSet) {
      parts.push(make('p', 'sv-coach-set', t(hasBegun ? 'coach.has_begun' : 'coach.was_set'), { role: 'status' }));
    }
    if (refusal) parts.push(make('p', 'sv-coach-other', refusal, { role: 'alert' }));
    return [...parts, row];
  }

  /** What is to be read can be scrolled by keyboard too. */
  #reading(parts) {
    const name = { role: 'group', tabindex: '0', 'aria-label': this.#title.textContent };
    const read = make('div', 'sv-coach-read', '', name);
    read.append(...parts);
    return read;
  }

  #starter(name, act, isMain) {
    const starter = button(name, act, isMain);
    setEnabled(starter, !this.#isBusy);
    this.#starters.push(starter);
    return starter;
  }

  #ending(lesson) {
    const next = LESSONS[LESSONS.indexOf(lesson) + 1];
    const row = make('div', 'sv-coach-buttons');
    if (next) {
      const title = t(`lesson.${next.id}_title`);
      row.append(button('next', this.#acts.next, true, { title }));
    }
    row.append(button('all', this.#acts.all, !next));
    const done = make('p', 'sv-coach-step', t('coach.finished'));
    const last = make('p', 'sv-coach-text', t('coach.all_done'));
    return next ? [done, row] : [done, last, row];
  }

  #setFolded(isFolded) {
    this.#body.hidden = isFolded;
    const text = t(isFolded ? 'coach.unfold' : 'coach.fold');
    setText(this.#fold, isFolded ? '▴' : '▾');
    this.#fold.title = text;
    this.#fold.setAttribute('aria-label', text);
    this.#fold.setAttribute('aria-expanded', String(!isFolded));
  }

  /** The page grows by what the panel may cover, so that its end can be scrolled free. */
  #noteHeight() {
    const height = this.element.hidden ? 0 : this.element.offsetHeight;
    document.documentElement.style.setProperty('--sv-coach-height', `${height}px`);
  }
}

function progressBar(at, count) {
  const number = Math.min(at + 1, count);
  const text = t('coach.step', { number, count });
  const bar = make('div', 'sv-coach-steps', '', { role: 'img', 'aria-label': text });
  for (let step = 0; step < count; step++) {
    bar.append(make('i', step < at ? 'is-done' : step === at ? 'is-now' : '', step < at ? '✓' : ''));
  }
  return bar;
}

function noteList(lines) {
  return wrap('div', 'sv-coach-note', ...lines.map((line) => make('p', '', line)));
}

/** A belief to be judged true or false before it is turned over and, by `goOn`, left behind. */
function makeBelief({ id, isTrue }, goOn) {
  const choices = make('div', 'sv-coach-buttons');
  const turn = (said) => {
    const isRight = said === isTrue;
    const name = `${isRight ? 'right' : 'wrong'}_${isTrue ? 'yes' : 'no'}`;
    const truth = make('p', 'sv-belief-truth', '', { role: 'status', tabindex: '-1' });
    truth.append(
      make('b', isRight ? 'is-right' : 'is-wrong', t(`coach.${name}`)),
      ` ${t(`lesson.belief_${id}_truth`)}`,
    );
    choices.replaceChildren(button('on', goOn, true));
    choices.before(truth);
    truth.focus({ preventScroll: true });
    choices.scrollIntoView({ block: 'nearest' });
  };
  choices.append(button('yes', () => turn(true)), button('no', () => turn(false)));
  const question = make('b', '', t('coach.question'));
  return wrap('div', 'sv-belief', question, make('q', '', t(`lesson.belief_${id}`)), choices);
}

function button(name, act, isMain = false, values = {}) {
  return makeButton(t(`coach.${name}`, values), act, isMain ? 'sv-button is-main' : 'sv-button');
}

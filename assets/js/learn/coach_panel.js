// The panel of a lesson: where it stands, what to do now, what was just learned.
import { make, setText } from '../core/dom.js';
import { makeBelief } from './lesson_belief.js';
import { LESSONS } from './lessons.js';
import { t } from '../core/strings.js';

/** Draws a lesson; what its buttons do is `acts`: close, show, setUp, on, next, all. */
export class CoachPanel {
  #acts;
  #number = make('p', 'sv-coach-number');
  #title = make('h2', 'sv-coach-title', '', { tabindex: '-1' });
  #body = make('div', 'sv-coach-body');
  #spoken = make('p', 'sv-spoken', '', { role: 'status' });
  #fold = make('button', 'sv-coach-icon', '', { type: 'button' });

  constructor(acts) {
    this.#acts = acts;
    this.element = make('section', 'sv-coach', '', { 'aria-label': t('coach.name'), hidden: '' });
    const close = make('button', 'sv-coach-icon', '✕', { type: 'button' });
    close.setAttribute('aria-label', t('coach.close'));
    close.title = t('coach.close');
    close.addEventListener('click', acts.close);
    this.#fold.addEventListener('click', () => this.#setFolded(!this.#body.hidden));
    const head = make('header', 'sv-coach-head');
    const titles = make('div');
    titles.append(this.#number, this.#title);
    head.append(titles, this.#fold, close);
    this.element.append(head, this.#body, this.#spoken);
    new ResizeObserver(() => this.#tellHeight()).observe(this.element);
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
    this.#tellHeight();
  }

  /** Draw the step `at` of `steps`; `state` holds `note`, `wasSet` and `isElsewhere`. */
  draw(lesson, steps, at, state) {
    const step = steps[at];
    const parts = [progressBar(at, steps.length)];
    if (at === 0) parts.push(make('p', 'sv-coach-text', t(`lesson.${lesson.id}_text`)));
    if (state.note?.length) parts.push(noteList(state.note));
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

  #task(lesson, step, { wasSet, isElsewhere }) {
    const row = make('div', 'sv-coach-buttons');
    if (step.preset) row.append(this.#button('setup', this.#acts.setUp, !wasSet));
    if (step.at && isElsewhere) row.append(this.#button('go', this.#acts.show, !step.preset));
    else if (step.at) row.append(this.#button('show', this.#acts.show));
    if (step.done) row.append(this.#button('skip', this.#acts.on));
    else row.append(this.#button('understood', this.#acts.on, true));
    const text = make('p', 'sv-coach-step', t(`lesson.${lesson.id}_${step.id}`));
    const parts = [text, row];
    if (wasSet) parts.splice(1, 0, make('p', 'sv-coach-set', t('coach.was_set'), { role: 'status' }));
    return parts;
  }

  #ending(lesson) {
    const next = LESSONS[LESSONS.indexOf(lesson) + 1];
    const row = make('div', 'sv-coach-buttons');
    if (next) {
      const title = t(`lesson.${next.id}_title`);
      row.append(this.#button('next', this.#acts.next, true, { title }));
    }
    row.append(this.#button('all', this.#acts.all, !next));
    const done = make('p', 'sv-coach-step', t('coach.finished'));
    const last = make('p', 'sv-coach-text', t('coach.all_done'));
    return next ? [done, row] : [done, last, row];
  }

  #button(name, act, isMain = false, values = {}) {
    const main = isMain ? ' is-main' : '';
    const text = t(`coach.${name}`, values);
    const button = make('button', `sv-button${main}`, text, { type: 'button' });
    button.addEventListener('click', act);
    return button;
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
  #tellHeight() {
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
  const list = make('div', 'sv-coach-note');
  list.append(...lines.map((line) => make('p', '', line)));
  return list;
}

// The coach: takes a visitor through a lesson on the real page, step by step, over all tabs.
import { apply } from '../controls/settings.js';
import { isOpen, openTab } from '../page/tabs.js';
import { CoachPanel } from './coach_panel.js';
import { NOTES, factsOf } from './facts.js';
import { onHappening, watchRaces } from './happenings.js';
import { LESSONS, lessonOf, progress } from './lessons.js';
import { Light } from './light.js';

/** What takes Escape itself while it is focused. */
const KEEPS_ESCAPE = 'input, textarea, select, [role=listbox], [aria-expanded=true]';
const ALL = '#sv-learn';
const PLAIN_SAMPLING = { top_k: 0, top_p: 1, seed: 0 };
const USUAL_GAMMA = 6;

let coach = null;

/** Draw the coach, who waits until a lesson is taken; `?lesson=ID` takes one from a link. */
export function mountCoach(container, data) {
  coach = new Coach(container, data);
  const asked = new URLSearchParams(window.location.search).get('lesson');
  if (asked) startLesson(asked);
}

/** Take a lesson, if there is one of this name. */
export function startLesson(id) {
  const lesson = lessonOf(id);
  if (lesson) coach?.start(lesson);
}

/**
 * Set up what a step's preset names; the draft length `'best'` is the best one of the curve.
 * @param {{ prompt?: string, lanes: any[], [setting: string]: any }} preset
 */
export function setUp({ prompt, lanes, ...rest }, data, bestGamma) {
  apply({
    ...PLAIN_SAMPLING,
    ...rest,
    target: data.target,
    ...(prompt && { prompt: data.prompts[prompt] }),
    lanes: lanes.map(({ draft, gamma, ...lane }) => ({
      ...lane,
      gamma: gamma === 'best' ? bestGamma || USUAL_GAMMA : gamma,
      ...offered(draft, data.drafts),
    })),
  });
}

/** The draft whose name ends so; without one the lane takes the page's first. */
function offered(ending, drafts) {
  const draft = ending && drafts.find((name) => name.endsWith(ending));
  return draft ? { draft } : {};
}

class Coach {
  #data;
  #facts;
  #panel;
  #light;
  #lesson = null;
  #steps = [];
  #at = 0;
  #state = {};
  #bestGamma = 0;
  #opener = null;

  constructor(container, data) {
    this.#data = data;
    // Notes speak of the race that is over: its facts are read before it is announced.
    this.#facts = factsOf(data);
    this.#panel = new CoachPanel({
      close: () => this.#leave(),
      on: () => this.#goOn(null),
      show: () => this.#show(true),
      setUp: () => this.#setUp(),
      next: () => this.start(LESSONS[LESSONS.indexOf(this.#lesson) + 1]),
      all: () => this.#toAll(),
    });
    container.append(this.#panel.element);
    this.#light = new Light(this.#panel.element);
    onHappening((happening) => this.#take(happening));
    watchRaces();
    document.addEventListener('keydown', (event) => this.#key(event));
    document.addEventListener('click', (event) => {
      const { target } = event;
      const isTab = target instanceof Element && target.closest('[role=tab], .overflow-dropdown');
      if (isTab) setTimeout(() => this.#follow());
    });
  }

  /** Take a lesson from its first step. */
  start(lesson) {
    this.#opener ??= document.activeElement;
    this.#lesson = lesson;
    const beliefs = Object.entries(lesson.beliefs).map(([id, isTrue]) => ({ belief: { id, isTrue } }));
    this.#steps = [...lesson.steps, ...beliefs];
    this.#at = 0;
    this.#state = {};
    this.#panel.open(lesson);
    this.#show(true);
  }

  #take(happening) {
    if (happening.kind === 'curve') this.#bestGamma = happening.best;
    const step = this.#lesson && this.#steps[this.#at];
    if (happening.kind === 'started' && step?.then) {
      this.#light.show({ at: step.then, tab: step.tab }, false);
    }
    if (step?.done?.(happening, this.#bestGamma)) this.#goOn(step.note ? NOTES[step.note](this.#facts) : null);
  }

  /** The step is done, read or skipped; `note` is what there is to learn from it. */
  #goOn(note) {
    this.#at += 1;
    this.#state = { note };
    if (this.#at === this.#steps.length) progress.add(this.#lesson.id);
    this.#panel.speak(this.#lesson, this.#steps[this.#at]);
    this.#show(false);
  }

  /** Draw the step and light up its control; its tab opens only when the visitor asked to go there. */
  #show(mayTravel) {
    const step = this.#steps[this.#at] ?? {};
    if (mayTravel && step.tab) openTab(step.tab);
    this.#state.isElsewhere = !mayTravel && Boolean(step.tab) && !isOpen(step.tab);
    this.#panel.draw(this.#lesson, this.#steps, this.#at, this.#state);
    this.#light.show(step, mayTravel);
  }

  /** The visitor opened a tab: the step may be there, or elsewhere now. */
  #follow() {
    const tab = this.#lesson && this.#steps[this.#at]?.tab;
    if (!tab || this.#state.isElsewhere === !isOpen(tab)) return;
    this.#state.isElsewhere = !isOpen(tab);
    this.#panel.draw(this.#lesson, this.#steps, this.#at, this.#state);
  }

  #setUp() {
    setUp(this.#steps[this.#at].preset, this.#data, this.#bestGamma);
    this.#state.wasSet = true;
    this.#show(true);
  }

  #key(event) {
    if (event.key !== 'Escape' || event.defaultPrevented || !this.#lesson) return;
    const isInside = this.#panel.element.contains(event.target);
    if (isInside || !event.target.closest(KEEPS_ESCAPE)) this.#leave();
  }

  #toAll() {
    this.#leave();
    openTab('learn');
    document.querySelector(ALL)?.scrollIntoView({ block: 'start' });
  }

  #leave() {
    this.#lesson = null;
    this.#light.off();
    this.#panel.close();
    if (this.#opener?.checkVisibility?.()) this.#opener.focus({ preventScroll: true });
    this.#opener = null;
  }
}

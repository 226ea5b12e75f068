// The coach: takes a visitor through a lesson on the real page, step by step, over all tabs.
import { apply, isSettled } from '../controls/settings.js';
import { sentence } from '../page/strings.js';
import { isOpen, openTab } from '../page/tabs.js';
import { CoachPanel } from './coach_panel.js';
import { ask } from '../wire/server.js';
import { NOTES, factsOf, largeNumbers } from './facts.js';
import { beginLab, onHappening, watchRaces } from './happenings.js';
import { letGo, playRecording } from './leftovers.js';
import { LESSONS, lessonOf, progress } from './lessons.js';
import { Light } from './light.js';

/** What takes Escape itself while it is focused. */
const KEEPS_ESCAPE = 'input, textarea, select, [role=listbox], [aria-expanded=true]';
const ALL = '#sv-learn';
const RACE = 'sv-race';
const SETTLE_EVERY_MS = 50;
const SETTLE_TRIES = 60;
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
  /** The race that an earlier step left behind, if it goes on. */
  #leftRace = null;

  constructor(container, data) {
    this.#data = data;
    // Notes speak of the race that is over: its facts are read before it is announced.
    this.#facts = factsOf(data);
    const acts = {
      close: () => this.#leave(),
      on: () => this.#goOn(null),
      show: () => this.#show(true),
      setUp: () => this.#setUp(),
      race: () => this.#race(),
      watch: () => this.#watch(),
      next: () => this.start(LESSONS[LESSONS.indexOf(this.#lesson) + 1]),
      all: () => this.#toAll(),
    };
    this.#panel = new CoachPanel(acts, largeNumbers(data.large), data.recordings);
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
    this.#begin();
    this.#panel.open(lesson);
    this.#show(true);
  }

  /** Begin a step without what was left behind; a question after it may be about what is held. */
  #begin() {
    const step = this.#steps[this.#at];
    if (!step?.belief) this.#leftRace = letGo() ?? this.#leftRace;
    if (step?.lab && this.#steps[this.#at - 1]?.lab !== step.lab) beginLab(step.lab);
  }

  #take(happening) {
    if (happening.kind === 'curve') this.#bestGamma = happening.best;
    const step = this.#lesson && this.#steps[this.#at];
    const isLeft = happening.race && happening.race === this.#leftRace;
    if (step && !isLeft) this.#judge(step, happening);
  }

  /** Whether what happened completes the step, and what the visitor needs to know if it does not. */
  #judge(step, happening) {
    if (happening.kind === 'started' && step.then) {
      this.#light.show({ at: step.then, beside: step.beside, tab: step.tab }, false);
    }
    const situation = { bestGamma: this.#bestGamma, wasSet: Boolean(this.#state.wasSet) };
    if (step.done?.(happening, situation)) this.#goOn(step.note ? NOTES[step.note](this.#facts) : null);
    else if (happening.kind === 'race' && step.preset) {
      this.#state.isOther = !(step.suits ?? step.done)(happening, situation);
      this.#redraw();
    }
  }

  /** The step is done, read or skipped; `note` is what there is to learn from it. */
  #goOn(note) {
    this.#at += 1;
    this.#state = { note };
    if (this.#at === this.#steps.length) progress.add(this.#lesson.id);
    this.#begin();
    this.#panel.speak(this.#lesson, this.#steps[this.#at]);
    this.#show(false);
  }

  /** Draw the step and light up its control; its tab opens only when the visitor asked to go there. */
  #show(mayTravel) {
    const step = this.#steps[this.#at] ?? {};
    if (mayTravel && step.tab) openTab(step.tab);
    this.#state.isElsewhere = !mayTravel && Boolean(step.tab) && !isOpen(step.tab);
    this.#redraw();
    this.#light.show(step, mayTravel);
  }

  #redraw() {
    this.#panel.draw(this.#lesson, this.#steps, this.#at, this.#state);
  }

  /** The visitor opened a tab: the step may be there, or elsewhere now. */
  #follow() {
    const tab = this.#lesson && this.#steps[this.#at]?.tab;
    if (!tab || this.#state.isElsewhere === !isOpen(tab)) return;
    this.#state.isElsewhere = !isOpen(tab);
    this.#redraw();
  }

  #setUp() {
    setUp(this.#steps[this.#at].preset, this.#data, this.#bestGamma);
    this.#state.wasSet = true;
    this.#state.hasBegun = false;
    this.#show(true);
  }

  /** Set the step's race up and press Race, once Gradio's controls hold the settings. */
  async #race() {
    const step = this.#steps[this.#at];
    this.#setUp();
    for (let left = SETTLE_TRIES; left > 0 && !isSettled(); left -= 1) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_EVERY_MS));
    }
    if (!isSettled() || step !== this.#steps[this.#at]) return;
    document.getElementById(RACE)?.click();
    this.#state.hasBegun = true;
    this.#redraw();
  }

  /** Play the recorded race that shows what the step is about. */
  async #watch() {
    const step = this.#steps[this.#at];
    const { packets, error } = await ask('recorded', step.recording);
    if (step !== this.#steps[this.#at]) return;
    if (error) {
      this.#state.refusal = sentence(error);
      return this.#redraw();
    }
    // Whether a recorded race loses was decided when it was recorded.
    this.#state.wasSet = false;
    playRecording(packets);
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
    letGo();
    this.#light.off();
    this.#panel.close();
    if (this.#opener?.checkVisibility?.()) this.#opener.focus({ preventScroll: true });
    this.#opener = null;
  }
}

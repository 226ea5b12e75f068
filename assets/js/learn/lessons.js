// The lessons as a table: what each step lights up, what completes it, and what "set it up" sets.
// The texts are `lesson.ID_title`, `_sum`, `_text`, `lesson.ID_STEP` and `lesson.belief_NAME`.
import { remember, remembered } from '../page/memory.js';

const KEY = 'specviz-lessons';

const lane = (number) => ({ at: `#sv-race-stage .sv-lane:nth-child(${number})`, tab: 'race' });
const race = { at: '#sv-race', tab: 'race', then: '#sv-race-stage .sv-lanes' };
const lab = (name) => ({ at: `.sv-lab-${name}`, tab: 'learn' });

// What a happening (`happenings.js`) must be to complete a step.
const finished = (it) => it.kind === 'race';
const isToken = (fate) => (it) => it.kind === 'token' && it.fate === fate;
/** @type {(name: string, test?: (it: any) => boolean) => (it: any) => boolean} */
const inLab = (name, test = () => true) => (it) => it.kind === name && test(it);
const loses = (it) => finished(it) && it.isSlower;

const story = { prompt: 'story_fox_and_turtle', temperature: 0, tokens: 96 };
const translation = { prompt: 'translate_words_never_seen', temperature: 0, tokens: 64 };
const correction = { prompt: 'edit_spelling', temperature: 0, tokens: 64 };
const draft = (gamma, name) => ({ method: 'draft-model', gamma, ...(name && { draft: name }) });

/**
 * Steps are `{id, at, tab, then, done, preset, note}`: `at` finds the control to light up on its
 * `tab`, and `then` what to watch once a race has begun; `done(happening, bestGamma)` completes the step, and a
 * step without it is read; `preset` becomes the settings of the race, with the id of an example as
 * prompt and the end of a draft's name as draft, `'best'` as γ meaning the best of the curve; `note`
 * names what `facts.js` says once the step is done. `beliefs` say which are true.
 */
export const LESSONS = [
  {
    id: 'slow',
    steps: [
      { id: 'race', ...race, preset: { ...story, lanes: [draft(4)] }, done: finished, note: 'pass' },
      { id: 'token', ...lane(1), done: isToken('plain') },
    ],
    beliefs: { chunk: false },
  },
  {
    id: 'guess',
    steps: [
      { id: 'race', ...race, preset: { ...story, lanes: [draft(5)] }, done: finished },
      { id: 'rejected', ...lane(2), done: isToken('rejected') },
      { id: 'discarded', ...lane(2), done: isToken('discarded') },
      { id: 'hold', at: '#sv-race-status', tab: 'race', done: (it) => it.kind === 'held' },
    ],
    beliefs: { dropped: false },
  },
  {
    id: 'check',
    steps: [
      { id: 'strip', ...lab('strip'), done: inLab('strip', (it) => it.isSlower) },
      { id: 'own', ...lab('strip'), done: inLab('strip', (it) => it.isOwn), note: 'check' },
    ],
    beliefs: { easier: false, compute: true },
  },
  {
    id: 'accept',
    steps: [
      { id: 'coin', ...lab('accept'), done: inLab('accept', (it) => it.thrown >= 1) },
      { id: 'many', ...lab('accept'), done: inLab('accept', (it) => it.thrown >= 200) },
      { id: 'drag', ...lab('accept'), done: inLab('accept', (it) => it.rate < 0.5) },
      {
        id: 'real',
        ...race,
        preset: { ...story, temperature: 0.8, lanes: [draft(5)] },
        done: (it) => isToken('rejected')(it) && !it.isGreedy,
      },
    ],
    beliefs: { residual: false },
  },
  {
    id: 'same',
    steps: [
      { id: 'rules', ...lab('rules'), done: inLab('rules', (it) => it.tried === 4) },
      {
        id: 'race',
        ...race,
        then: '#sv-race-figures',
        preset: { ...story, lanes: [draft(4, 'tiny')] },
        done: (it) => finished(it) && it.isIdentical,
      },
    ],
    beliefs: { degrade: false, bits: false },
  },
  {
    id: 'best',
    steps: [
      { id: 'curve', ...lab('curve'), done: inLab('curve', (it) => it.wasMoved) },
      {
        id: 'race',
        ...race,
        preset: { ...story, lanes: [draft(2), draft('best')] },
        done: (it, bestGamma) => finished(it) && (it.gammas.size > 1 || it.gammas.has(bestGamma)),
        note: 'run',
      },
    ],
    beliefs: { number: false, single: true },
  },
  {
    id: 'loses',
    // Measured with `python -m specviz race --repeat 3` and 96, 64 and 96 tokens on one thread of an
    // AMD EPYC: 0.72× at α .14; 0.61× at c .36; 0.81× at γ 16 where the same draft has 1.54× at γ 4.
    steps: [
      { id: 'low', ...race, preset: { ...story, lanes: [draft(4, 'misfit')] }, done: loses, note: 'run' },
      {
        id: 'dear',
        ...race,
        preset: { ...translation, lanes: [{ method: 'early-exit', exit_layer: 8, gamma: 8 }] },
        done: loses,
        note: 'run',
      },
      {
        id: 'long',
        ...race,
        preset: { ...story, temperature: 1.5, lanes: [draft(16), draft(4)] },
        done: loses,
        note: 'run',
      },
    ],
    beliefs: { always: false, better: false },
  },
  {
    id: 'methods',
    steps: [
      {
        id: 'race',
        ...race,
        preset: {
          ...correction,
          lanes: [draft(4), { method: 'prompt-lookup', gamma: 4 }, { method: 'early-exit', gamma: 4 }],
        },
        done: (it) => finished(it) && it.methods.size > 2,
        note: 'run',
      },
      { id: 'eagle' },
    ],
    beliefs: { tokenizers: false, fixed: true },
  },
];

/** A lesson by its id, else undefined. */
export function lessonOf(id) {
  return LESSONS.find((lesson) => lesson.id === id);
}

/** Which lessons were done, remembered from one visit to the next. */
class Progress {
  #done = new Set((remembered(KEY) ?? '').split(' ').filter(lessonOf));
  #listeners = [];

  /** Whether a lesson was done. */
  has(id) {
    return this.#done.has(id);
  }

  /** How many were done. */
  get count() {
    return this.#done.size;
  }

  /** The first lesson that was not done, else null. */
  get next() {
    return LESSONS.find((lesson) => !this.has(lesson.id)) ?? null;
  }

  /** Note that a lesson was done. */
  add(id) {
    this.#done.add(id);
    this.#keep();
  }

  /** Forget all. */
  clear() {
    this.#done.clear();
    this.#keep();
  }

  /** Call `listener()` now and whenever something was done or forgotten. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener();
  }

  #keep() {
    remember(KEY, [...this.#done].join(' '));
    for (const listener of this.#listeners) listener();
  }
}

export const progress = new Progress();

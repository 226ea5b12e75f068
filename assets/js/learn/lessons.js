// The lessons as a table: what each step lights up, what completes it, and what "set it up" sets.
// The texts are `lesson.ID_title`, `_sum`, `_text`, `lesson.ID_STEP` and `lesson.belief_NAME`.
import { isTree } from '../model/names.js';
import { remember, remembered } from '../page/memory.js';

const KEY = 'specviz-lessons';

const lane = (number) => ({
  at: `#sv-race-stage .sv-lane:nth-child(${number})`,
  beside: '#sv-race-stage .sv-card',
  tab: 'race',
});
const race = { at: '#sv-race', beside: '#sv-lanes input', tab: 'race', then: '#sv-race-stage .sv-lanes' };
const transport = { at: '#sv-race-status', tab: 'race' };
const lab = (name) => ({ at: `.sv-lab-${name}`, tab: 'learn', lab: name });

// What a happening (`happenings.js`) must be to complete a step.
const finished = (it) => it.kind === 'race';
const isToken = (fate) => (it) => it.kind === 'token' && it.fate === fate;
/** @type {(name: string, test?: (it: any) => boolean) => (it: any) => boolean} */
const inLab = (name, test = () => true) => (it) => it.kind === name && test(it);
/** Whether a race loses decides the visitor's device: one that was set up for the step counts too. */
const loses = (it, { wasSet }) => finished(it) && (it.isSlower || wasSet);
const isSampled = (it) => !it.race.isGreedy;
/** Whether a tree and a chain of the same draft ran side by side, the one as deep as the other is long. */
const comparesTree = ({ race: { drafting } }) =>
  drafting.some(({ spec }) => isTree(spec) && drafting.some((lane) => !isTree(lane.spec) && isSameDraft(lane.spec, spec)));
const isSameDraft = (one, other) => ['method', 'draft', 'gamma'].every((field) => one[field] === other[field]);

const story = { prompt: 'story_fox_and_turtle', temperature: 0, tokens: 96 };
const translation = { prompt: 'translate_words_never_seen', temperature: 0, tokens: 64 };
const correction = { prompt: 'edit_spelling', temperature: 0, tokens: 64 };
const draft = (gamma, name) => ({ method: 'draft-model', gamma, ...(name && { draft: name }) });

/**
 * Steps are `{id, at, beside, tab, then, lab, done, preset, suits, recording, note}`: `at` finds the
 * control to light up on its `tab`, `beside` what else the step speaks of, and `then` what to watch
 * once a race has begun; `lab` names the lab, which begins with its own numbers;
 * `done(happening, {bestGamma, wasSet})` completes the step, and a step without it is read; `preset`
 * becomes the settings of the race, with the id of an example as prompt and the end of a draft's name
 * as draft, `'best'` as γ meaning the best of the curve; `suits` says of a race that was finished
 * whether the step can be done with it, where `done` does not; `recording` names a recorded race that
 * the step can be done with; `note` names what `facts.js` says once the step is done. `beliefs` say
 * which are true.
 */
export const LESSONS = [
  {
    id: 'slow',
    steps: [
      {
        id: 'race',
        ...race,
        preset: { ...story, lanes: [draft(4)] },
        recording: '1-greedy',
        done: finished,
        note: 'pass',
      },
      { id: 'token', ...lane(1), done: isToken('plain') },
    ],
    beliefs: { half: true },
  },
  {
    id: 'guess',
    steps: [
      { id: 'race', ...race, preset: { ...story, lanes: [draft(5)] }, recording: '1-greedy', done: finished },
      { id: 'rejected', ...lane(2), done: isToken('rejected') },
      { id: 'discarded', ...lane(2), done: isToken('discarded') },
      { id: 'hold', ...transport, done: (it) => it.kind === 'held' },
    ],
    beliefs: { dropped: false },
  },
  {
    id: 'check',
    steps: [
      { id: 'strip', ...lab('strip'), done: inLab('strip', (it) => it.isSlower) },
      {
        id: 'race',
        ...race,
        preset: { ...story, lanes: [draft(2), draft(8)] },
        recording: '6-lengths',
        done: finished,
        note: 'checks',
      },
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
        beside: '#sv-race-stage .sv-card',
        preset: { ...story, temperature: 0.8, lanes: [draft(5)] },
        recording: '2-sampled',
        suits: isSampled,
        done: (it) => isToken('rejected')(it) && !it.isGreedy,
      },
    ],
    beliefs: { residual: false },
  },
  {
    id: 'same',
    steps: [
      { id: 'rules', ...lab('rules'), done: inLab('rules', (it) => it.tried === 4) },
      { id: 'draws', ...lab('draws'), done: inLab('draws', (it) => it.drawn >= 1000) },
      {
        id: 'race',
        ...race,
        then: '#sv-race-figures',
        preset: { ...story, lanes: [draft(4, 'tiny')] },
        recording: '1-greedy',
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
        recording: '6-lengths',
        done: (it, { bestGamma }) => finished(it) && (it.gammas.size > 1 || it.gammas.has(bestGamma)),
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
      {
        id: 'low',
        ...race,
        preset: { ...story, lanes: [draft(4, 'misfit')] },
        recording: '4-slower',
        done: loses,
        note: 'lost',
      },
      {
        id: 'dear',
        ...race,
        preset: { ...translation, lanes: [{ method: 'early-exit', exit_layer: 8, gamma: 8 }] },
        recording: '5-dear',
        done: loses,
        note: 'lost',
      },
      {
        id: 'long',
        ...race,
        preset: { ...story, temperature: 1.5, lanes: [draft(16), draft(4)] },
        recording: '6-lengths',
        done: loses,
        note: 'lost',
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
        recording: '3-methods',
        done: (it) => finished(it) && it.methods.size > 2,
        note: 'run',
      },
      { id: 'eagle' },
      {
        id: 'tree',
        ...race,
        preset: { ...story, tokens: 64, lanes: [draft(5), { ...draft(5), tree: 'dynamic', branches: 4, budget: 24 }] },
        recording: '7-tree',
        done: (it) => finished(it) && comparesTree(it),
        note: 'trees',
      },
    ],
    beliefs: { tokenizers: false, fixed: true, tau: false },
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

// The numbers of a real race that the lessons speak with, where they come from, and how that is said.
import { aboutDevice, isTree, laneName } from '../model/names.js';
import { panels } from '../model/panels.js';
import { Race } from '../model/race.js';
import { decimals, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

const WEIGHT_BYTES = { float64: 8, float32: 4, bfloat16: 2, float16: 2 };
/** Gigabytes a second that memory moves at least, of a processor and of what accelerates it. */
const USUAL_RATE = { cpu: 10, other: 100 };
/** A check reads the same weights as a plain pass and does more: measured below 1, v is noise. */
export const LEAST_CHECK = 1;

let shared = null;

/** The facts of this page; the first call gives the data they begin with. */
export function factsOf(data) {
  shared ??= new Facts(data, panels.race.playback);
  return shared;
}

/** Follows the races of a playback: the newest one that is finished counts, at first a shipped one. */
export class Facts {
  #parameters;
  #listeners = [];
  /** @type {Race | null} The race that the numbers are of. */
  race = null;
  /** `live`, `played` (a recording on this page) or `shipped`. */
  source = 'shipped';

  /** `recorded` is the first event and the figures of the shipped race, null where there is none. */
  constructor({ parameters, recorded }, playback) {
    this.#parameters = parameters;
    if (recorded) {
      this.race = new Race();
      this.race.take({ event: recorded.started });
      this.race.take({ figures: recorded.figures });
    }
    playback.follow((race) => {
      if (race === this.race || race.status.state !== 'finished' || !race.hasFigures) return;
      this.race = race;
      this.source = playback.recording ? 'played' : 'live';
      for (const listener of this.#listeners) listener(this);
    });
  }

  /** Call `listener(facts)` now and after every finished race. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener(this);
  }

  /** Weights of the target that was measured, else null. */
  get numParameters() {
    return this.#parameters[this.race?.baseline?.spec.target] ?? null;
  }

  /** Milliseconds of one pass of the target over one token, else null. */
  get stepMs() {
    return this.race?.baseline?.metrics?.step_ms ?? null;
  }

  /** Megabytes that one pass reads, else null. */
  get megabytes() {
    const bytes = WEIGHT_BYTES[this.race?.started.environment.dtype];
    return this.numParameters && bytes ? (this.numParameters * bytes) / 1e6 : null;
  }

  /** Gigabytes of weights that a plain pass reads in a second, else null. */
  get gigabytesASecond() {
    return this.megabytes && this.stepMs ? this.megabytes / this.stepMs : null;
  }

  /** The first lane of which α, c and v are known, else null. */
  get lane() {
    return this.race?.drafting.find(isMeasured) ?? null;
  }
}

/** Of trees nothing is expected by the formula of chains, which the labs draw. */
function isMeasured({ metrics }) {
  return metrics && metrics.expected_tau !== null && metrics.alpha !== null && metrics.draft_cost !== null && metrics.verify_cost;
}

/** Where the numbers come from. */
export function sourceOf({ source, race }) {
  return t(`lesson.source_${source}`, { place: aboutDevice(race.started.environment) });
}

/** Size, time and rate of one pass, as texts; null where they are not known. */
export function passNumbers(facts) {
  const rate = facts.gigabytesASecond;
  if (!rate) return null;
  const numbers = { count: facts.numParameters / 1e6, size: facts.megabytes, step: facts.stepMs, rate };
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, decimals(number, 1)]));
}

/** Whether reading the weights or something else takes the time of a pass. */
export function boundOf(facts) {
  const usual = USUAL_RATE[facts.race.started.environment.device] ?? USUAL_RATE.other;
  return facts.gigabytesASecond < usual ? t('lesson.note_overhead', { usual }) : t('lesson.note_fast');
}

/** The numbers of a large model's pass, which Python reckons, as texts. */
export function largeNumbers(large) {
  return {
    count: plain(large.num_parameters / 1e9),
    size: plain(large.gigabytes),
    device: large.device,
    bandwidth: plain(large.gigabytes_a_second),
    read: decimals(large.read_ms, 1),
    teraflops: plain(large.teraflops),
    arithmetic: decimals(large.arithmetic_ms, 2),
    tokens: plain(large.num_tokens),
  };
}

/** What is said of a check that was measured as less than a plain pass, else nothing. */
export function noiseOf(verifyCost) {
  return verifyCost < LEAST_CHECK ? t('lesson.note_noise', { v: decimals(verifyCost, 2) }) : '';
}

/** What the lessons say with these numbers, as sentences; null where they are not known. */
export const NOTES = {
  pass: (facts) => {
    const numbers = passNumbers(facts);
    return numbers && [t('lesson.note_pass', numbers), sourceOf(facts)];
  },
  check: (facts) => {
    const { lane, stepMs } = facts;
    return lane && [noteOfCheck(lane, stepMs), noiseOf(lane.metrics.verify_cost), sourceOf(facts)].filter(Boolean);
  },
  checks: (facts) => {
    const { race, stepMs } = facts;
    const lanes = race?.drafting.filter(isMeasured) ?? [];
    if (!lanes.length) return null;
    const noisy = lanes.map((lane) => noiseOf(lane.metrics.verify_cost)).find(Boolean) ?? '';
    return [...lanes.map((lane) => noteOfCheck(lane, stepMs)), noisy, sourceOf(facts)].filter(Boolean);
  },
  run: ({ race }) => race && race.drafting.filter(isMeasured).map(noteOfLane),
  trees: ({ race }) => race && notesOfTrees(race),
  lost: (facts) => {
    const { race } = facts;
    if (!race) return null;
    const hasLost = race.drafting.some((lane) => lane.isSlower);
    return [...NOTES.run(facts), ...(hasLost ? [] : [t('lesson.note_won')])];
  },
};

function noteOfCheck({ spec, metrics }, stepMs) {
  const { verify_cost: cost } = metrics;
  return t('lesson.note_check', {
    step: decimals(stepMs, 1),
    gamma: spec.gamma,
    tokens: spec.gamma + 1,
    verify: decimals(cost * stepMs, 1),
    v: decimals(cost, 2),
  });
}

function noteOfLane(lane) {
  const { alpha, draft_cost: c, verify_cost: v, speedup } = lane.metrics;
  const shown = Object.entries({ alpha, c, v, speedup }).map(([name, each]) => [name, decimals(each, 2)]);
  return t('lesson.note_run', { name: laneName(lane), ...Object.fromEntries(shown) });
}

/** What a tree and a chain kept and cost a round, and what came of it. */
function notesOfTrees({ drafting }) {
  const lanes = drafting.filter(({ metrics }) => metrics?.tau && metrics.speedup !== null);
  const told = lanes.map((lane) => {
    const { tau, ms, num_rounds: n, num_drafted: drafted, speedup } = lane.metrics;
    const values = { tau: decimals(tau, 2), ms: decimals(ms / n, 1), guesses: decimals(drafted / n, 1), speedup: decimals(speedup, 2) };
    return t('lesson.note_tree_lane', { name: laneName(lane), ...values });
  });
  const [tree, chain] = [true, false].map((wanted) => lanes.find(({ spec }) => isTree(spec) === wanted)?.metrics);
  return tree && chain ? [...told, t(`lesson.note_tree_${outcomeOf(tree, chain)}`)] : told;
}

/** Whether a tree kept more than a chain, and whether the clock followed. */
function outcomeOf(tree, chain) {
  if (tree.tau <= chain.tau) return 'no_more';
  return tree.speedup > chain.speedup ? 'faster' : 'slower';
}

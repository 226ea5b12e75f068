// A race as the browser holds it: the one fold of what the wire brings. Every view reads it.
import { FATES, FATE_OF_SOURCE } from './fates.js';
import { TokenTree } from './tree.js';

/** States of a race that goes on, or is about to. */
export const BUSY = new Set(['waiting', 'loading', 'running']);
/** States of a race that is over. */
export const OVER = new Set(['finished', 'stopped', 'error', 'refused']);

/**
 * The wire's own values are written as `specviz/ui/wire.py` states them.
 * @typedef {{ event: string, [field: string]: any }} RaceEvent
 * @typedef {{ metrics: Record<string, any>, verdict: Record<string, any> | null,
 *   slowness?: Record<string, any> | null, other_gammas?: Record<string, any>[], forecast?: Record<string, any> | null }} LaneFigures
 * @typedef {{ state: string, text?: string | object, field?: string }} Status
 * @typedef {{ events?: RaceEvent[], figures?: LaneFigures[], status?: Status }} Packet
 * @typedef {{ event?: RaceEvent, figures?: LaneFigures[], status?: Status }} Part
 *
 * A token of a round: a drafted or an emitted one of the trace, and what became of it. `position` is
 * its place in the output, null where it is not part of it.
 * @typedef {{ text: string, fate: import('./fates.js').Fate, position: number | null,
 *   parent?: number, [field: string]: any }} Token
 */

/** Folds events, figures and statuses; views are told when something was taken in. */
export class Race {
  /** The event RaceStarted: request, environment and specs; null before it. */
  started = null;
  /** @type {Lane[]} */
  lanes = [];
  /** @type {Status} */
  status = { state: 'idle' };
  /** The event ModelDownloading or ModelLoading that was last, while a race waits for models. */
  loading = null;
  /** The last round of a lane that drafts, else of any: what the narration is about. */
  latest = null;
  hasFigures = false;
  /** Counts the parts that were taken in. */
  version = 0;

  /**
   * Take one part of a packet in.
   * @param {{ event?: RaceEvent, figures?: LaneFigures[], status?: Status }} part
   */
  take({ event, figures, status }) {
    this.version += 1;
    if (event) this.#takeEvent(event);
    if (figures) this.#takeFigures(figures);
    if (status) this.status = status;
  }

  get isBusy() {
    return BUSY.has(this.status.state);
  }

  /** Whether files of its models are on their way; the race is not in the queue yet. */
  get isDownloading() {
    const { state, text } = this.status;
    return state === 'waiting' && text === undefined && this.loading?.event === 'ModelDownloading';
  }

  get isOver() {
    return OVER.has(this.status.state);
  }

  get isGreedy() {
    return this.started === null || this.started.request.sampling.temperature === 0;
  }

  get hasRounds() {
    return this.lanes.some((lane) => lane.rounds.length > 0);
  }

  /** The lane that drafts nothing, against which everything is measured. */
  get baseline() {
    return this.lanes.find((lane) => lane.isBaseline) ?? null;
  }

  /** The lanes that draft. */
  get drafting() {
    return this.lanes.filter((lane) => !lane.isBaseline);
  }

  /** When the lane that took longest is done, as far as it has come, in ms. */
  get endMs() {
    return Math.max(0, ...this.lanes.map((lane) => lane.clockMs));
  }

  /** The lanes in front by the speedups that are shown, the baseline where all are slower. */
  get leaders() {
    const best = this.bestSpeedup;
    if (best === null) return [];
    if (best < 1 && this.baseline) return [this.baseline];
    return this.drafting.filter((lane) => rounded(lane.speedup) === rounded(best));
  }

  /** The highest speedup of a lane that drafts, null as long as there is none. */
  get bestSpeedup() {
    const speedups = this.drafting.map((lane) => lane.speedup).filter((each) => each !== null);
    return speedups.length ? Math.max(...speedups) : null;
  }

  #takeEvent(event) {
    if (event.event === 'ModelLoading' || event.event === 'ModelDownloading') this.loading = event;
    else if (event.event === 'RaceStarted') {
      this.started = event;
      this.lanes = event.specs.map((spec, index) => new Lane(index, spec, event.specs));
    } else if (event.event === 'RoundFinished') this.#takeRound(event);
    else if (event.event === 'LaneFinished') {
      const { stop_reason: stopReason, error, loop = null } = event;
      Object.assign(this.lanes[event.lane], { stopReason, error, loop });
    }
  }

  #takeRound(event) {
    const lane = this.lanes[event.lane];
    const round = lane.add(event);
    if (event.lane === this.lanes.length - 1 || this.latest === null) this.latest = { lane, round };
  }

  #takeFigures(figures) {
    this.hasFigures = figures.length > 0;
    figures.forEach((each, index) => Object.assign(this.lanes[index], each));
  }
}

/** One lane: its rounds, its text and its clock. */
export class Lane {
  /** @type {Round[]} */
  rounds = [];
  clockMs = 0;
  numEmitted = 0;
  text = '';
  stopReason = null;
  error = null;
  /** How the lane stands by the server's figures: `metrics`, `verdict` and `forecast`, null before any. */
  metrics = null;
  verdict = null;
  forecast = null;
  /** Why the lane was slower than the target alone, once the race is over; null where it was not. */
  slowness = null;
  /** What other draft lengths would have given on these rounds, once the race is over; empty before. */
  other_gammas = [];
  /** Where the text repeats itself, once the lane has ended; null where it does not. */
  loop = null;

  /** `specs` are those of all lanes: in what they differ, they are told apart. */
  constructor(index, spec, specs) {
    this.index = index;
    this.spec = spec;
    this.specs = specs;
  }

  get isBaseline() {
    return this.spec.method === 'baseline';
  }

  get hasEnded() {
    return this.stopReason !== null;
  }

  /** Whether the text ended by itself or at the length that was asked for. */
  get isWhole() {
    return this.stopReason === 'eos' || this.stopReason === 'length';
  }

  get speedup() {
    return this.metrics?.speedup ?? null;
  }

  get isSlower() {
    return this.speedup !== null && this.speedup < 1;
  }

  /** Take a round in, with the lane's alpha and speedup after it. */
  add({ round, alpha = null, speedup = null }) {
    const added = new Round(round, this, { alpha, speedup });
    this.rounds.push(added);
    this.clockMs = added.endMs;
    this.numEmitted += round.emitted.length;
    for (const token of added.written) this.text += token.text;
    return added;
  }

  /** The index of the round that the lane was in at a time, or -1. */
  roundAt(ms) {
    let [low, high] = [0, this.rounds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rounds[middle].endMs <= ms) low = middle + 1;
      else high = middle;
    }
    return low < this.rounds.length && ms >= 0 ? low : -1;
  }
}

/** One round of a lane, in reading order, with its place on the lane's clock. */
export class Round {
  /** @type {TokenTree | null} */
  #tree = null;

  constructor(round, lane, { alpha, speedup }) {
    /** The round as the trace has it. */
    this.facts = round;
    this.number = round.index + 1;
    /** Where the lane's text stood before it. */
    this.textBefore = lane.text.length;
    this.startMs = lane.clockMs;
    this.times = { draft: round.draft_ms, verify: round.verify_ms, other: round.other_ms };
    this.ms = round.draft_ms + round.verify_ms + round.other_ms;
    this.endMs = this.startMs + this.ms;
    this.numEmittedSoFar = lane.numEmitted + round.emitted.length;
    this.alpha = alpha;
    this.speedup = speedup;
    /** @type {Token[]} */
    this.tokens = tokensOf(round);
    this.isTree = round.drafted.some((token, index) => token.parent !== index - 1);
  }

  /** Its tokens as a tree; a chain has one branch. */
  get tree() {
    this.#tree ??= new TokenTree(this.tokens);
    return this.#tree;
  }

  /** The tokens that became part of the text. */
  get written() {
    return this.tokens.filter((token) => token.position !== null);
  }

  get numKept() {
    return this.tokens.filter((token) => token.fate.name === 'accepted').length;
  }

  get numJudged() {
    return this.tokens.filter((token) => token.fate.isJudged).length;
  }
}

/**
 * The drafted tokens as they were guessed, then what the target added. An accepted token takes its
 * text from the output, where pieces of one character are joined.
 */
function tokensOf({ drafted, emitted, position: first }) {
  const kept = emitted.filter((token) => token.source === 'draft');
  let position = first;
  const guesses = drafted.map((token) => {
    const inOutput = token.outcome === 'accepted' ? kept.shift() : undefined;
    const fate = FATES[token.outcome];
    if (!inOutput) return { ...token, fate, position: null };
    return { ...token, text: inOutput.text, fate, position: position++ };
  });
  const added = emitted.filter((token) => token.source !== 'draft');
  return [
    ...guesses,
    ...added.map((token) => ({
      ...token,
      fate: FATES[FATE_OF_SOURCE[token.source]],
      position: position++,
    })),
  ];
}

/** A speedup as it is shown. */
function rounded(speedup) {
  return speedup === null ? null : Math.round(100 * speedup);
}

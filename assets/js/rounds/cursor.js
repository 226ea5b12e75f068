// A position in the races of the page: panel, lane, round, beat, and the token that is looked at.
import { Beats } from './beats.js';
import { make } from '../page/dom.js';

/**
 * Moves through rounds and beats, follows a live race, and notifies its listeners. With "guess first"
 * no fate is shown before the visitor has guessed it; the score holds for the visit.
 */
export class Cursor {
  #listeners = [];
  /** How many fates of a round were guessed. */
  #answers = new WeakMap();
  /** The last race of each panel that was opened here. */
  #races = new Map();
  /** The beats of a round, and that round. */
  #beats = /** @type {Beats | null} */ (null);
  #beatsOf = null;
  #numSeen = 0;
  #follows = true;
  /** Whether the reader has gone anywhere in this race. */
  #wasMoved = false;
  /** @type {import('../model/panels.js').Panel | null} */
  panel = null;
  laneIndex = 0;
  index = 0;
  beat = 0;
  /** Index of the token that is looked at. */
  chosen = 0;
  isGuessing = false;
  numRight = 0;
  numGuessed = 0;
  /** The last guess: the round, the token, and whether it was right. */
  lastGuess = null;

  /** Call `listener(isLive)` after each change: made by the race, or by the reader. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  get race() {
    return this.panel?.playback.race ?? null;
  }

  get lane() {
    return this.race?.lanes[this.laneIndex] ?? null;
  }

  get rounds() {
    return this.lane?.rounds ?? [];
  }

  get round() {
    return this.rounds[this.index];
  }

  get beats() {
    if (this.#beatsOf !== this.round) {
      this.#beatsOf = this.round;
      this.#beats = new Beats(this.round);
    }
    return this.#beats;
  }

  /** The last beat that may be shown. */
  get limit() {
    return this.isOpen() ? this.beats.ends[1] + this.#numAnswered(this.round) : this.beats.last;
  }

  /** Index of the token whose fate the visitor is asked for. */
  get asked() {
    return this.beats.judged[this.#numAnswered(this.round)];
  }

  /** Whether a fate of a round is still to be guessed by the visitor. */
  isOpen(round = this.round) {
    return this.isGuessing && this.#numAnswered(round) < round.numJudged;
  }

  /**
   * What may be shown of a token now; with "guess first" no more than what is asked for.
   * @returns {import('../evidence/decision.js').Evidence}
   */
  evidenceOf(index = this.chosen) {
    const { round, beat, beats, lane, race } = this;
    let known = beats.knownOf(index, beat);
    // A probability under a later guess would tell that this one was kept.
    if (known === 'checked' && this.isOpen() && index > this.asked) known = 'guessed';
    return { token: round.tokens[index], round, lane, isGreedy: race.isGreedy, known };
  }

  /** See how far a panel's race has come; gives whether one began, which is then the open one. */
  take(panel) {
    const { race } = panel.playback;
    const hasBegun = race.started !== null && this.#races.get(panel) !== race;
    if (hasBegun) {
      this.#races.set(panel, race);
      this.#follows = race.isBusy;
      this.#wasMoved = false;
      this.#open(panel, Math.max(0, race.lanes.findIndex((lane) => !lane.isBaseline)));
    } else if (panel !== this.panel) return false;
    else if (this.rounds.length > this.#numSeen) this.#grow();
    this.#numSeen = this.rounds.length;
    this.#notify(true);
    return hasBegun;
  }

  /** Open another lane; the round keeps its number where that lane has one. */
  enter(panel, laneIndex, index = this.index) {
    this.#open(panel, laneIndex);
    this.to(index);
  }

  /** Begin at a telling round where the race was over before the reader went anywhere in it. */
  settle() {
    if (this.#wasMoved || !this.round || !this.race.isOver) return;
    this.#follows = false;
    this.#stand(this.#tellingIndex());
    this.#notify(false);
  }

  /** Go to a round by its index, and see as much of it as may be seen. */
  to(index) {
    const last = this.rounds.length - 1;
    this.#wasMoved = true;
    this.#stand(Math.min(Math.max(index, 0), last));
    this.#follows = this.index === last;
    this.#notify(false);
  }

  /** Open a round before its first beat, if it is there. */
  begin(index) {
    if (index >= this.rounds.length) return false;
    this.#follows = false;
    this.#wasMoved = true;
    this.index = index;
    this.toBeat(0);
    return true;
  }

  /** Go to a beat of this round, as far as it may be shown. */
  toBeat(beat) {
    this.beat = Math.min(Math.max(beat, 0), this.limit);
    if (this.isOpen() && this.beat === this.limit) this.chosen = this.asked;
    else if (this.evidenceOf().known === 'nothing') this.chosen = this.beats.guessed[0] ?? 0;
    this.#notify(false);
  }

  /** Go one beat on, and look at the token that it is about. */
  next() {
    if (this.beat < this.limit) this.chosen = this.beats.indexAt(this.beat + 1) ?? this.chosen;
    this.toBeat(this.beat + 1);
  }

  /** Go one stage on (1) or back (-1); past a round's ends lie the rounds before and after. */
  stage(step) {
    const { ends, last } = this.beats;
    const stage = this.beats.stageOf(this.beat);
    if (step < 0 && stage === 0) this.to(this.index - 1);
    else if (step < 0) this.toBeat(ends[stage - 1]);
    else if (this.beat < ends[stage]) this.toBeat(ends[stage]);
    else if (this.beat < last) this.toBeat(ends[stage + 1]);
    else if (this.begin(this.index + 1)) this.toBeat(this.beats.ends[0]);
  }

  /** Look at another token of this round. */
  choose(index) {
    this.chosen = index;
    this.#notify(false);
  }

  /** Switch "guess first" on or off. */
  setGuessing(isOn) {
    this.isGuessing = isOn;
    if (this.round) this.#stand(this.index);
    this.#notify(false);
  }

  /** The visitor says whether the token that is asked for was kept. */
  guess(isKept) {
    if (!this.isOpen()) return;
    const { round, asked } = this;
    const token = round.tokens[asked];
    const isRight = isKept === (token.fate.name === 'accepted');
    this.#answers.set(round, this.#numAnswered(round) + 1);
    this.numGuessed += 1;
    this.numRight += isRight ? 1 : 0;
    this.lastGuess = { round, token, isRight };
    this.toBeat(this.limit);
    if (!this.isOpen()) this.choose(this.beats.telling());
  }

  #numAnswered(round) {
    return this.#answers.get(round) ?? 0;
  }

  #open(panel, laneIndex) {
    Object.assign(this, { panel, laneIndex });
    this.#stand(this.#follows ? this.rounds.length - 1 : this.#tellingIndex());
  }

  /** The first round that kept a guess and threw one away, else the first of all. */
  #tellingIndex() {
    const isTelling = ({ numKept, numJudged }) => numKept > 0 && numKept < numJudged;
    return Math.max(0, this.rounds.findIndex(isTelling));
  }

  // A reader who guesses first, or who went back, is not carried on.
  #grow() {
    if (this.#follows && !this.isGuessing) this.#stand(this.rounds.length - 1);
    else if (this.#numSeen === 0) this.#stand(0);
  }

  #stand(index) {
    this.index = Math.max(0, index);
    if (!this.round) return;
    this.beat = this.limit;
    this.chosen = this.isOpen() ? this.asked : this.beats.telling();
  }

  #notify(isLive) {
    for (const listener of this.#listeners) listener(isLive);
  }
}

/** A part of the tab, drawn anew when one of the values of `factsOf()` is another one. */
export function redrawn(className, factsOf, draw) {
  const element = make('section', className);
  let drawn = [];
  const update = () => {
    const facts = factsOf();
    if (facts.every((fact, index) => fact === drawn[index])) return;
    drawn = facts;
    element.replaceChildren(...draw(...facts));
  };
  return { element, update };
}

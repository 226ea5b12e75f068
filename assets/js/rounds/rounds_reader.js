// Where a reader stands in the races of the page: scene, lane, round, beat, and the token looked at.
import { Beats } from './rounds_beats.js';
import { Book } from './rounds_book.js';
import { Guesses } from './rounds_guesses.js';

/** Moves through rounds and beats, follows a live race, and tells its listeners. */
export class Reader {
  #outcomes;
  #listeners = [];
  #beats = new WeakMap();
  #follows = true;
  books = {};
  scene = null;
  lane = 0;
  index = 0;
  beat = 0;
  /** Place of the token that is looked at. */
  chosen = 0;
  guesses = new Guesses();

  constructor(outcomes, sceneNames) {
    this.#outcomes = outcomes;
    for (const name of sceneNames) this.books[name] = new Book();
  }

  /** Call `listener(isLive)` after each change: made by the race, or by the reader. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  get book() {
    return this.books[this.scene];
  }

  get rounds() {
    return this.book?.lanes[this.lane]?.rounds ?? [];
  }

  get round() {
    return this.rounds[this.index];
  }

  get spec() {
    return this.book.lanes[this.lane].spec;
  }

  get beats() {
    return this.beatsOf(this.round);
  }

  /** Whether a fate of this round is still to be guessed by the visitor. */
  get isOpen() {
    return this.guesses.isOpen(this.round, this.beats);
  }

  /** The last beat that may be shown: with "guess first" no fate before it was guessed. */
  get limit() {
    return this.guesses.limit(this.round, this.beats);
  }

  beatsOf(round) {
    if (!this.#beats.has(round)) this.#beats.set(round, new Beats(round, this.#outcomes));
    return this.#beats.get(round);
  }

  /** Take in what a scene shows; `isOver` says that no more is to come. */
  take(scene, items, isOver) {
    const numBefore = this.rounds.length;
    for (const item of items) this.books[scene].take(item);
    if (items.some((item) => item.k === 'start')) {
      this.#follows = !isOver;
      this.#open(scene, this.books[scene].guessing()[0] ?? 0);
    } else if (scene !== this.scene) return;
    else if (this.rounds.length > numBefore) this.#grow(numBefore);
    this.#tell(true);
  }

  /** Open another lane; the round keeps its number where that lane has one. */
  enter(scene, lane) {
    const { index } = this;
    this.#open(scene, lane);
    this.to(index);
  }

  /** Go to a round by its place, and see as much of it as may be seen. */
  to(index) {
    const place = Math.min(Math.max(index, 0), this.rounds.length - 1);
    this.#follows = place === this.rounds.length - 1;
    this.#stand(place);
    this.#tell(false);
  }

  /** Open a round before its first beat, if it is there. */
  begin(index) {
    if (index >= this.rounds.length) return false;
    this.#follows = false;
    this.index = index;
    this.toBeat(0);
    return true;
  }

  /** What is known of a token now; with "guess first" no more than what is asked for. */
  known(place) {
    const known = this.beats.knownOf(place, this.beat);
    // A probability under a later guess would tell that this one was kept.
    return this.isOpen && known === 'checked' && place > this.#asked() ? 'guessed' : known;
  }

  /** Go to a beat of this round, as far as it may be shown. */
  toBeat(beat) {
    this.beat = Math.min(Math.max(beat, 0), this.limit);
    if (this.isOpen && this.beat === this.limit) this.chosen = this.#asked();
    else if (this.known(this.chosen) === 'nothing') this.chosen = this.beats.guessed[0] ?? 0;
    this.#tell(false);
  }

  /** Go one beat on, and look at the token that it is about. */
  next() {
    const place = this.beats.placeAt(this.beat + 1);
    if (this.beat < this.limit) this.chosen = place ?? this.chosen;
    this.toBeat(this.beat + 1);
  }

  /** Go one stage on (1) or back (-1); past a round's ends lie the rounds before and after. */
  stage(step) {
    if (!this.round) return;
    const { ends, last } = this.beats;
    const stage = this.beats.stageOf(this.beat);
    if (step < 0 && stage === 0) this.to(this.index - 1);
    else if (step < 0) this.toBeat(ends[stage - 1]);
    else if (this.beat < ends[stage]) this.toBeat(ends[stage]);
    else if (this.beat < last) this.toBeat(ends[stage + 1]);
    else if (this.begin(this.index + 1)) this.toBeat(this.beats.ends[0]);
  }

  /** Look at another token of this round. */
  choose(place) {
    this.chosen = place;
    this.#tell(false);
  }

  /** Switch "guess first" on or off. */
  setGuessing(isOn) {
    this.guesses.isOn = isOn;
    if (this.round) this.#stand(this.index);
    this.#tell(false);
  }

  /** The visitor says whether the token that is asked for was kept. */
  guess(isKept) {
    if (!this.isOpen) return;
    this.guesses.answer(this.round, this.beats, isKept);
    this.toBeat(this.limit);
    if (!this.isOpen) this.choose(this.beats.telling());
  }

  #open(scene, lane) {
    this.scene = scene;
    this.lane = lane;
    this.#stand(this.#follows ? this.rounds.length - 1 : 0);
  }

  // A reader who guesses first, or who went back, is not carried on.
  #grow(numBefore) {
    const isCarried = this.#follows && !this.guesses.isOn;
    if (isCarried) this.#stand(this.rounds.length - 1);
    else if (numBefore === 0) this.#stand(0);
  }

  #stand(index) {
    this.index = Math.max(0, index);
    if (!this.round) return;
    this.beat = this.limit;
    this.chosen = this.isOpen ? this.#asked() : this.beats.telling();
  }

  #asked() {
    return this.guesses.asked(this.round, this.beats);
  }

  #tell(isLive) {
    for (const listener of this.#listeners) listener(isLive);
  }
}

// Plays rounds as a little animation: beat after beat, round after round.
import { isMotionReduced } from '../core/dom.js';

/** How long a beat of each stage stands, and a whole round at its end, in ms. */
const STANDS_MS = [550, 1500, 1100];
const ROUND_MS = 2200;
const LOOKS_AGAIN_MS = 400;

/** Moves a reader on; waits at the end of a race that still goes on. */
export class Player {
  #reader;
  #isOver;
  #tell;
  #timer = null;
  speed = 1;

  /** `isOver()` says whether the race has ended, `tell()` is called when playing starts or ends. */
  constructor(reader, isOver, tell) {
    this.#reader = reader;
    this.#isOver = isOver;
    this.#tell = tell;
  }

  get isPlaying() {
    return this.#timer !== null;
  }

  toggle() {
    if (this.isPlaying) this.stop();
    else this.#play();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#tell();
  }

  /** A round that is shown to its end begins again; the last one leads back to the first. */
  #play() {
    const reader = this.#reader;
    if (!reader.round) return;
    if (reader.beat >= reader.beats.last) {
      const isEnd = reader.index === reader.rounds.length - 1 && this.#isOver();
      reader.begin(isEnd ? 0 : reader.index);
    }
    this.#wait(0);
    this.#tell();
  }

  #wait(ms) {
    this.#timer = setTimeout(() => this.#turn(), ms / this.speed);
  }

  #turn() {
    const reader = this.#reader;
    if (!reader.round || (reader.isOpen && reader.beat >= reader.limit)) return this.stop();
    if (reader.beat < reader.beats.last) {
      this.#goOn();
      return this.#wait(this.#standing());
    }
    if (reader.begin(reader.index + 1)) return this.#wait(LOOKS_AGAIN_MS);
    if (this.#isOver()) return this.stop();
    this.#wait(LOOKS_AGAIN_MS);
  }

  // Where motion is unwelcome, whole stages follow each other.
  #goOn() {
    if (isMotionReduced()) this.#reader.stage(1);
    else this.#reader.next();
  }

  #standing() {
    const { beat, beats } = this.#reader;
    return beat === beats.last ? ROUND_MS : STANDS_MS[beats.stageOf(beat)];
  }
}

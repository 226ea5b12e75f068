// Plays rounds as a little animation, beat after beat, and moves the cursor by keys.
import { isMotionReduced } from '../page/dom.js';

/** How long a beat of each stage stands, and a whole round at its end, in ms. */
const STANDS_MS = [550, 1500, 1100];
const ROUND_MS = 2200;
const LOOKS_AGAIN_MS = 400;

const PRESSED_BY_SPACE = 'button:not([role=tab]), a, summary, select, input';
const TAKES_ARROWS = 'select, input:not([type=checkbox]), textarea, [contenteditable]';
/** The button of the tab, where the keyboard is after a click on it. */
const TAB_BUTTON = 'sv-tab-rounds-button';

/** Moves a cursor on; waits at the end of a race that still goes on. */
export class Player {
  #cursor;
  #notify;
  #timer = null;
  speed = 1;

  /** `notify()` is called when playing starts or ends. */
  constructor(cursor, notify) {
    this.#cursor = cursor;
    this.#notify = notify;
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
    this.#notify();
  }

  get #isOver() {
    return !this.#cursor.panel.playback.race.isBusy;
  }

  /** A round that is shown to its end begins again; the last one leads back to the first. */
  #play() {
    const cursor = this.#cursor;
    if (!cursor.round) return;
    if (cursor.beat >= cursor.beats.last) {
      const isEnd = cursor.index === cursor.rounds.length - 1 && this.#isOver;
      cursor.begin(isEnd ? 0 : cursor.index);
    }
    this.#wait(0);
    this.#notify();
  }

  #wait(ms) {
    this.#timer = setTimeout(() => this.#turn(), ms / this.speed);
  }

  #turn() {
    const cursor = this.#cursor;
    if (!cursor.round || (cursor.isOpen() && cursor.beat >= cursor.limit)) return this.stop();
    if (cursor.beat < cursor.beats.last) {
      // Where motion is unwelcome, whole stages follow each other.
      if (isMotionReduced()) cursor.stage(1);
      else cursor.next();
      const { beat, beats } = cursor;
      return this.#wait(beat === beats.last ? ROUND_MS : STANDS_MS[beats.stageOf(beat)]);
    }
    if (!cursor.begin(cursor.index + 1) && this.#isOver) return this.stop();
    this.#wait(LOOKS_AGAIN_MS);
  }
}

/**
 * Let arrows, Home, End and Space move the cursor while the tab in `container` is open, wherever
 * nothing else takes them.
 */
export function listenForMoves(container, cursor, player) {
  const moves = {
    ' ': () => player.toggle(),
    ArrowRight: () => cursor.to(cursor.index + 1),
    ArrowLeft: () => cursor.to(cursor.index - 1),
    Home: () => cursor.to(0),
    End: () => cursor.to(cursor.rounds.length - 1),
    ArrowDown: () => cursor.stage(1),
    ArrowUp: () => cursor.stage(-1),
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (!Object.hasOwn(moves, key) || !cursor.round || !isMeant(event, container)) return;
    moves[key]();
    if (key !== ' ' && player.isPlaying) player.stop();
    event.preventDefault();
  });
}

/** Whether a key is for the tab: nothing that has the focus takes it. */
function isMeant({ target, key }, container) {
  if (!container.checkVisibility()) return false;
  if (target.closest(key === ' ' ? PRESSED_BY_SPACE : TAKES_ARROWS)) return false;
  return target === document.body || target.id === TAB_BUTTON || container.contains(target);
}

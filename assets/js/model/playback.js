// Decides when the page shows what a race has done: at once, in slow motion, round by round, or not yet.
import { Aside } from './aside.js';
import { Backpressure, FrameThrottle } from './pacing.js';
import { Race } from './race.js';
import { Timeline } from './timeline.js';

/** How many times slower a race may be shown. */
export const FACTORS = [1, 4, 10];
const FULL_SPEED = 1;
const LONGEST_FRAME_MS = 250;

/**
 * Stands between the packets of a race and its views. It stretches what is shown and never what is
 * timed: a live race at full speed is shown as it comes, a slower one by the lanes' own clocks, and a
 * recorded one as if each lane had the device to itself.
 */
export class Playback {
  /** What is shown: views read it and are told when it has changed. */
  race = new Race();
  /** Id of the live run, null for a recording and before any race. */
  run = null;
  /** The number of the packet that comes next. */
  next = 0;
  /** The packets of the finished race that is played, null for a live one. */
  recording = null;
  isPaused = false;
  /** The live race that waits while a recording is shown. @type {Aside | null} */
  aside = null;
  /** Whether the live race that is shown took the place of a recording when its turn came. */
  hasTakenOver = false;
  /** Whether the server has run the live race out, since others waited: only its display is held. */
  isRunOut = false;
  /** How many times slower than the lanes' clocks: 1 is full speed. */
  factor = FULL_SPEED;
  /** Whether every race is held after each round of a lane that drafts: on the screen, never at the server. */
  isByRound = false;
  /** The factor that was chosen; one race alone may be slower. */
  #usual = FULL_SPEED;
  #control;
  #listeners = [];
  #refusalListeners = [];
  #past = new Set();
  /** The run that was asked for figures after every round. */
  #detailed = null;
  #timeline = new Timeline();
  #frame = null;
  #frameAt = 0;
  #isStepping = false;
  #hurries = false;
  #backpressure;
  #throttle = new FrameThrottle(
    () => this.#goesAtOnce() && this.flush(),
    (cost) => this.race.isBusy && this.run && this.#backpressure.note(cost),
  );

  /** `control(run, wish, value)` does what is wished at the server. */
  constructor(control) {
    this.#control = control;
    this.#backpressure = new Backpressure((ms) => control(this.run, 'pace', ms));
  }

  /** Whether the race, or what is shown of it, goes on, or a race waits for its turn. */
  get isBusy() {
    return this.race.isBusy || this.aside !== null;
  }

  /** Whether what is shown goes on; a race that waits shows nothing, and gives way to a recording. */
  get isShowing() {
    return this.race.isBusy && this.race.status.state !== 'waiting';
  }

  /** Call `listener(playback)` now and after every change of the race or of how it is shown. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener(this);
  }

  /** Call `listener(race, isNew)` now, and whenever the race has gone on or is another one. */
  follow(listener) {
    let [race, version] = [null, 0];
    this.subscribe(() => {
      if (this.race === race && race.version === version) return;
      const isNew = this.race !== race;
      ({ race } = this);
      ({ version } = race);
      listener(race, isNew);
    });
  }

  /** Call `listener(status)` whenever a race was refused before it began: what is shown stays. */
  onRefusal(listener) {
    this.#refusalListeners.push(listener);
  }

  /** Say that a race was refused; `field` of the status is the control that it is about. */
  refuse(status) {
    for (const listener of this.#refusalListeners) listener(status);
  }

  /** Whether packets of this run still count. */
  isCurrent(run) {
    return !this.#past.has(run);
  }

  /** The number of the packet of a run that comes next. */
  nextOf(run) {
    return run === this.aside?.run ? this.aside.next : this.next;
  }

  /** Whether a run is shown here, or waits for its turn. */
  holds(run) {
    return run === this.run || run === this.aside?.run;
  }

  /** Begin a live run. */
  open(run) {
    this.#begin(run, null);
  }

  /** Take a packet of the live run in, unless it was taken already. */
  take(packet) {
    if (packet.run === this.aside?.run && packet.seq >= this.aside.next) this.#takeAside(packet);
    if (packet.run !== this.run || packet.seq < this.next) return;
    this.next = packet.seq + 1;
    this.isRunOut ||= packet.is_run_out === true;
    this.#timeline.add(packet);
    this.#run();
  }

  /** Play a finished race from its start, which is shown at once. */
  play(packets) {
    this.#load(packets);
    this.#frameAt = performance.now();
    this.#turn();
  }

  /** Show a finished race's end at once. */
  show(packets) {
    this.#load(packets);
    this.flush();
  }

  /** Hold a race between two rounds: on the screen at once, and at the server if it still runs. */
  pause() {
    this.isPaused = true;
    this.#isStepping = false;
    this.#wish('pause');
    this.#notify();
  }

  /** Go on. */
  resume() {
    this.isPaused = false;
    this.#isStepping = false;
    this.#wish('resume');
    this.#run();
    this.#notify();
  }

  /** Show one round more of a lane that drafts, and hold again. */
  step() {
    this.isPaused = true;
    this.#isStepping = true;
    if (!this.#timeline.hasStep && !this.isByRound) this.#wish('step');
    this.#run();
    this.#notify();
  }

  /** Show races this many times slower than their clocks, this one and those that follow. */
  setFactor(factor) {
    this.#usual = factor;
    this.#setSpeed(factor, false);
  }

  /** Show this race alone so many times slower; the next one is as fast as was chosen. */
  slowOnce(factor) {
    if (!this.isByRound) this.#setSpeed(factor, false);
  }

  /** Show races one round at a time, this one and those that follow. */
  goByRound() {
    this.#usual = FULL_SPEED;
    this.#setSpeed(FULL_SPEED, true);
  }

  /** Whether this race alone is slower than was chosen. */
  get isSlowedOnce() {
    return this.factor !== this.#usual;
  }

  /** Show all that has come at once. */
  flush() {
    this.#deliver(this.#timeline.takeAll());
    this.#notify();
  }

  /** The visitor stops: a recording ends here; of a live race everything that has come is shown. */
  stop() {
    const isHeld = this.isPaused;
    this.isPaused = false;
    if (this.recording) {
      if (!this.#timeline.isEmpty) this.end('status.stopped_here');
      else this.leaveQueue();
      return;
    }
    this.#wish('stop');
    if (isHeld && !this.#timeline.isEmpty) {
      // Whoever goes by rounds has not seen what comes next, and did not ask for it.
      this.end('status.stopped_here');
      return;
    }
    this.#hurries = true;
    this.flush();
  }

  /** Take the race that waits while a recording is shown out of the queue; the server says when it is. */
  leaveQueue() {
    if (this.aside) this.#control(this.aside.run, 'stop');
  }

  /** Show that the race was ended, and why. */
  end(textId) {
    this.#timeline.clear();
    this.#deliver([{ status: { state: 'stopped', text: { id: textId } } }]);
    if (this.run !== null) this.#past.add(this.run);
    this.#notify();
  }

  #begin(run, recording) {
    if (recording && this.race.status.state === 'waiting') {
      this.aside = new Aside(this.run, this.next, this.race);
    } else {
      // Whoever looks at another race does not wait for this one, and nobody else should.
      this.#wish('stop');
      if (this.run !== null) this.#past.add(this.run);
    }
    // The same recording once more is shown as it was.
    const factor = recording && recording === this.recording ? this.factor : this.#usual;
    Object.assign(this, { run, recording, factor, next: 0, race: new Race() });
    this.hasTakenOver = this.isRunOut = false;
    this.isPaused = this.isByRound;
    this.#isStepping = this.isByRound;
    this.#hurries = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.#timeline.clear();
    this.#backpressure.begin();
    this.#askDetail();
    this.#notify();
  }

  #setSpeed(factor, isByRound) {
    const wasByRound = this.isByRound;
    Object.assign(this, { factor, isByRound });
    if (isByRound !== wasByRound && this.race.isBusy) {
      // What is held by its rounds goes on at the server.
      this.#wish('resume');
      this.isPaused = isByRound;
      this.#isStepping = false;
    }
    this.#askDetail();
    this.#run();
    this.#notify();
  }

  /** What is shown slower than it runs needs its figures after every round. */
  #askDetail() {
    const isSlowed = this.isByRound || this.factor !== FULL_SPEED;
    if (!isSlowed || this.run === null || this.run === this.#detailed || this.race.isOver) return;
    this.#detailed = this.run;
    this.#control(this.run, 'detail');
  }

  /** The race that waits stands otherwise, was taken out of the queue, or takes the recording's place. */
  #takeAside(packet) {
    const { aside } = this;
    const outcome = aside.take(packet);
    if (outcome !== 'waits') this.aside = null;
    if (outcome === 'left') this.#past.add(aside.run);
    if (outcome !== 'comes') return this.#notify();
    this.#begin(aside.run, null);
    this.next = aside.next;
    this.hasTakenOver = true;
  }

  #wish(wish) {
    if (this.race.isBusy && this.run !== null) this.#control(this.run, wish);
  }

  #load(packets) {
    this.#begin(null, packets);
    for (const packet of packets) this.#timeline.add(packet);
  }

  /** Show what is due, and come back while something waits for its time. */
  #run() {
    if (this.#goesAtOnce()) return this.#throttle.ask();
    if (this.#frame !== null || this.#timeline.isEmpty) return;
    this.#frameAt = performance.now();
    this.#frame = requestAnimationFrame(() => this.#turn());
  }

  /**
   * A live race at full speed, or stopped, is shown as it comes; what waited comes with it. One that was
   * run out is over at the server: it is shown by the lanes' clocks.
   */
  #goesAtOnce() {
    const isSlowed = (this.factor !== FULL_SPEED || this.isRunOut) && !this.#hurries;
    const isHeld = this.isPaused || isSlowed;
    return !this.recording && !isHeld;
  }

  #turn() {
    this.#frame = null;
    const now = performance.now();
    const passed = Math.min(now - this.#frameAt, LONGEST_FRAME_MS) / this.factor;
    this.#deliver(this.isPaused ? this.#dueWhileHeld() : this.#dueAfter(passed));
    if (!this.#timeline.isEmpty && (!this.isPaused || this.#isStepping)) {
      this.#frameAt = now;
      this.#frame = requestAnimationFrame(() => this.#turn());
    }
    this.#notify();
  }

  #dueAfter(passed) {
    this.#timeline.advance(passed);
    return this.#timeline.takeDue();
  }

  #dueWhileHeld() {
    if (!this.#isStepping) return [];
    const { parts, isWhole } = this.#timeline.takeStep();
    if (isWhole) this.#isStepping = false;
    return parts;
  }

  #deliver(parts) {
    for (const part of parts) this.race.take(part);
    if (this.race.isBusy) return;
    // A race that is over cannot be held any more.
    this.isPaused = false;
    this.#isStepping = false;
  }

  #notify() {
    for (const listener of this.#listeners) {
      try {
        listener(this);
      } catch (error) {
        console.error('a view failed', error);
      }
    }
  }
}

// Decides when the page shows what a race has done: at once, in slow motion, round by round, or not yet.
import { Cadence } from './cadence.js';
import { Pace } from './pace.js';
import { VISIT, remember, remembered } from './memory.js';
import { ask } from './server.js';
import { t } from './strings.js';
import { Timeline } from './timeline.js';

/** States of a race that goes on, or is about to. */
export const BUSY = new Set(['waiting', 'loading', 'running']);
/** How many times slower a race may be shown. */
export const FACTORS = [1, 2, 4, 10];
const FULL_SPEED = 1;
const LONGEST_FRAME_MS = 250;

/**
 * Stands between the packets of a race and its store. It stretches what is shown and never what is
 * timed: a live race at full speed is shown as it comes, a slower one by the lanes' own clocks, and a
 * recorded one as if each lane had the device to itself.
 */
export class Pacer {
  /** Under which the last run is remembered, for a reload. */
  #key;
  #store;
  #listeners = [];
  #past = new Set();
  #timeline = new Timeline();
  #frame = null;
  #frameAt = 0;
  #stepping = false;
  #hurries = false;
  #wishes = Promise.resolve();
  #pace = new Pace();
  #cadence = new Cadence(
    () => this.#goesAtOnce() && this.flush(),
    (cost) => this.isBusy && !this.recording && this.#pace.note(this.run, cost),
  );
  run = null;
  next = 0;
  /** Whether what is shown comes from a finished race: its recording, else null. */
  recording = null;
  isPaused = false;
  /** How many times slower than the lanes' clocks: 1 is full speed. */
  factor = 1;
  /** Whether the race, or what is shown of it, goes on. */
  isBusy = false;

  constructor(scene, store) {
    this.#key = `specviz-run-${scene}`;
    this.#store = store;
  }

  /** Call `listener(pacer)` now and whenever pause, speed or business change. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener(this);
  }

  /** Whether packets of this run still count. */
  isCurrent(run) {
    return !this.#past.has(run);
  }

  /** Begin a live run. */
  open(run) {
    this.#begin(run, null);
    remember(this.#key, run, VISIT);
  }

  /** Take a packet of the live run in, unless it was taken already. */
  take(packet) {
    if (packet.run !== this.run || packet.seq < this.next) return;
    this.next = packet.seq + 1;
    for (const item of packet.items) this.#timeline.add(item, null);
    this.#run();
  }

  /** Play a recording from its start, which is shown at once. */
  play(recording) {
    this.#load(recording);
    this.#frameAt = performance.now();
    this.#turn();
  }

  /** Show a recording's end at once. */
  show(recording) {
    this.#load(recording);
    this.flush();
  }

  /** Hold a race between two rounds: on the screen at once, and at the server if it still runs. */
  pause() {
    this.isPaused = true;
    this.#stepping = false;
    this.#control('pause');
    this.#tell();
  }

  /** Go on. */
  resume() {
    this.isPaused = false;
    this.#stepping = false;
    this.#control('resume');
    this.#run();
    this.#tell();
  }

  /** Show one round more of a lane that guesses, and hold again. */
  step() {
    this.isPaused = true;
    this.#stepping = true;
    if (!this.#timeline.hasStep) this.#control('step');
    this.#run();
    this.#tell();
  }

  /** Show the race this many times slower than its clocks. */
  setFactor(factor) {
    this.factor = factor;
    this.#run();
    this.#tell();
  }

  /** Show all that has come at once. */
  flush() {
    const items = this.#timeline.takeAll();
    if (items.length) this.#deliver(items);
    this.#tell();
  }

  /** The visitor stops: a recording ends here; of a live race everything that has come is shown. */
  stop() {
    this.isPaused = false;
    if (this.recording && !this.#timeline.isEmpty) {
      this.#timeline.takeAll();
      this.#deliver([{ k: 'status', state: 'stopped', text: t('status.stopped_here') }]);
    } else if (!this.recording) {
      this.#hurries = true;
      this.flush();
    }
    this.#tell();
  }

  /** After a reload, show what the last race of this visit had come to. */
  async restore() {
    const run = remembered(this.#key, VISIT);
    if (!run || this.run) return;
    const packets = await ask('replay', run, 0);
    if (!Array.isArray(packets) || !packets.length || this.run) return;
    this.#begin(run, null);
    for (const text of packets) this.take(JSON.parse(text));
    this.flush();
    if (this.isBusy) {
      this.#control('stop');
      this.#past.add(run);
      this.#deliver([{ k: 'status', state: 'stopped', text: t('status.reloaded') }]);
      this.#tell();
    }
  }

  #begin(run, recording) {
    // Whoever looks at another race does not wait for this one, and nobody else should.
    this.#control('stop');
    if (this.run !== null) this.#past.add(this.run);
    this.run = run;
    this.next = 0;
    this.recording = recording;
    this.isPaused = false;
    this.isBusy = false;
    this.#stepping = false;
    this.#hurries = false;
    this.#timeline.clear();
    this.#pace.begin();
    this.#store.clear();
    this.#tell();
  }

  /** Wishes go one after the other, so that the server's last one is the visitor's. */
  #control(wish) {
    if (this.recording || !this.isBusy) return;
    const { run } = this;
    this.#wishes = this.#wishes.then(() => ask('control', run, wish));
  }

  #load(recording) {
    cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.#begin(`recording-${performance.now()}`, recording);
    for (const [ms, items] of recording.packets) {
      for (const item of items) this.#timeline.add(item, ms);
    }
  }

  /** Show what is due, and come back while something waits for its time. */
  #run() {
    if (this.#goesAtOnce()) return this.#cadence.ask();
    if (this.#frame !== null || this.#timeline.isEmpty) return;
    this.#frameAt = performance.now();
    this.#frame = requestAnimationFrame(() => this.#turn());
  }

  /** A live race at full speed, or stopped, is shown as it comes; what waited comes with it. */
  #goesAtOnce() {
    const isHeld = this.isPaused || (this.factor !== FULL_SPEED && !this.#hurries);
    return !this.recording && !isHeld;
  }

  #turn() {
    this.#frame = null;
    const now = performance.now();
    const passed = Math.min(now - this.#frameAt, LONGEST_FRAME_MS) / this.factor;
    const due = this.isPaused ? this.#dueWhileHeld() : this.#dueAfter(passed);
    if (due.length) this.#deliver(due);
    if (!this.#timeline.isEmpty && (!this.isPaused || this.#stepping)) {
      this.#frameAt = now;
      this.#frame = requestAnimationFrame(() => this.#turn());
    }
    this.#tell();
  }

  #dueAfter(passed) {
    this.#timeline.advance(passed);
    return this.#timeline.takeDue();
  }

  #dueWhileHeld() {
    if (!this.#stepping) return this.#timeline.takeResets();
    const { items, isWhole } = this.#timeline.takeStep();
    if (isWhole) this.#stepping = false;
    return items;
  }

  #deliver(items) {
    for (const item of items) {
      if (item.k === 'round' && !this.recording) this.#timeline.catchUp(item.point[1]);
      if (item.k === 'status') this.#setBusy(BUSY.has(item.state));
    }
    this.#store.deliver(items);
  }

  /** A race that is over cannot be held any more. */
  #setBusy(isBusy) {
    this.isBusy = isBusy;
    if (isBusy) return;
    this.isPaused = false;
    this.#stepping = false;
  }

  #tell() {
    for (const listener of this.#listeners) listener(this);
  }
}

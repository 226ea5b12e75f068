// A live race that waits for its turn while something else is shown.
import { partsOf } from './timeline.js';

/** Keeps a waiting run, the number of its next packet, and the race as it stands. */
export class Aside {
  constructor(run, next, race) {
    this.run = run;
    this.next = next;
    this.race = race;
  }

  /** Take a packet in; gives `waits`, `left` where it was taken out of the queue, or `comes`. */
  take(packet) {
    const state = packet.status?.state;
    if (state !== 'waiting') return state === 'stopped' ? 'left' : 'comes';
    this.next = packet.seq + 1;
    for (const part of partsOf(packet)) this.race.take(part);
    return 'waits';
  }
}

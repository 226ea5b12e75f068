// Keeps a slow browser from being flooded: fewer redraws, and fewer packets asked of the server.

/** What drawing and painting may take of the time, so that packets are read and clicks answered. */
const BUSY_SHARE = 0.5;
/** A page that is out of sight is never painted; it goes on after this time. */
const LONGEST_FRAME_MS = 250;

/**
 * Calls `draw` at once, or where the page is still busy with the last drawing, together with what
 * comes until then. `note(cost)` hears how many ms each drawing took, its painting included.
 */
export class FrameThrottle {
  #draw;
  #note;
  #isAsked = false;
  #readyAt = 0;
  #timer = 0;

  constructor(draw, note) {
    this.#draw = draw;
    this.#note = note;
  }

  /** Ask for one more drawing. */
  ask() {
    this.#isAsked = true;
    this.#plan();
  }

  #plan() {
    clearTimeout(this.#timer);
    if (!this.#isAsked) return;
    const wait = this.#readyAt - performance.now();
    if (wait <= 0) this.#run();
    else this.#timer = setTimeout(() => this.#run(), wait);
  }

  #run() {
    this.#isAsked = false;
    const began = performance.now();
    this.#draw();
    const ended = performance.now();
    this.#readyAt = ended + LONGEST_FRAME_MS;
    // A message that is posted in the frame's own callback comes after the frame is painted.
    const { port1, port2 } = new MessageChannel();
    requestAnimationFrame((frameAt) => {
      port1.onmessage = () => this.#rest(ended - began + performance.now() - Math.max(frameAt, ended));
      port2.postMessage(null);
    });
  }

  #rest(cost) {
    this.#readyAt = performance.now() + cost * (1 / BUSY_SHARE - 1);
    this.#note(cost);
    this.#plan();
  }
}

/** Milliseconds between packets that may be asked for. */
const PACES = [50, 100, 200, 400];
/** How much of the new cost counts, so that one long frame changes nothing. */
const WEIGHT = 0.3;

/** Follows what drawing costs and keeps the packets of a live run about as far apart. */
export class Backpressure {
  #cost = 0;
  #ms = PACES[0];
  #ask;

  /** `ask(ms)` wishes for packets so far apart. */
  constructor(ask) {
    this.#ask = ask;
  }

  /** A drawing of a live run took so many ms. */
  note(cost) {
    this.#cost += WEIGHT * (cost - this.#cost);
    const wish = PACES.findLast((ms) => ms <= this.#cost) ?? PACES[0];
    if (wish === this.#ms) return;
    this.#ms = wish;
    this.#ask(wish);
  }

  /** A new run begins at the server's own pace; what this browser can do is known already. */
  begin() {
    this.#ms = PACES[0];
  }
}

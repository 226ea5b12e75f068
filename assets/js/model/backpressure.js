// Asks the server for fewer packets where the browser is slow: each costs time, whatever it holds.

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

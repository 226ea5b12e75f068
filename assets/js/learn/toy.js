// The two laws that the labs of the tab Learn share: dragged in one lab, they change in all.

const FIRST = { p: [50, 30, 20], q: [35, 45, 20] };

/** Laws that are shown in whole percents; each always adds up to 100. */
class Toy {
  /** Percents as they were dragged, so that shares survive many small moves. */
  #exact = structuredClone(FIRST);
  #listeners = [];

  /** The law `p` of the target or `q` of the draft, as it is shown. */
  law(which) {
    return wholePercents(this.#exact[which]).map((percent) => percent / 100);
  }

  /** Give a word this many percent; the others share the rest as they shared it before. */
  set(which, word, percent) {
    const before = this.#exact[which];
    const others = 100 - before[word];
    this.#exact[which] = before.map((share, each) => {
      if (each === word) return percent;
      return (100 - percent) * (others > 0 ? share / others : 1 / (before.length - 1));
    });
    this.#tell();
  }

  /** Go back to the laws of the start. */
  reset() {
    this.#exact = structuredClone(FIRST);
    this.#tell();
  }

  /** Call `listener()` now and whenever a law changes. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener();
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }
}

/** Round to whole percents that still add up to 100: the largest remainders are rounded up. */
function wholePercents(exact) {
  const whole = exact.map(Math.floor);
  const missing = 100 - whole.reduce((total, percent) => total + percent, 0);
  const byRemainder = exact.map((_, word) => word).sort((a, b) => rest(exact[b]) - rest(exact[a]));
  for (const word of byRemainder.slice(0, missing)) whole[word] += 1;
  return whole;
}

function rest(share) {
  return share - Math.floor(share);
}

export const toy = new Toy();

// The toy of the labs: a target's distribution p and a draft's q over three words, and four rules for q to write p.

const FIRST = { p: [50, 30, 20], q: [35, 45, 20] };
/** A smaller difference between two masses is one of rounding. */
const SAME = 1e-9;

/** Distributions that are shown in whole percents. Every lab has its own. */
export class Toy {
  /** Percents as they were dragged, so that shares survive many small moves. */
  #exact = structuredClone(FIRST);
  #listeners = [];

  /** The distribution `p` of the target or `q` of the draft, as it is shown. */
  distribution(which) {
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
    this.#notify();
  }

  /** Go back to the distributions of the start. */
  reset() {
    this.#exact = structuredClone(FIRST);
    this.#notify();
  }

  /** Call `listener(p, q)` now and whenever one of them changes. */
  subscribe(listener) {
    this.#listeners.push(listener);
    listener(this.distribution('p'), this.distribution('q'));
  }

  #notify() {
    for (const listener of this.#listeners) listener(this.distribution('p'), this.distribution('q'));
  }
}

/** Σ min(p, q): the share of guesses that the right rule keeps. */
export function overlap(p, q) {
  return sum(keptMass(p, q));
}

/** min(p, q) for each word: how often it is guessed and kept. */
export function keptMass(p, q) {
  return p.map((mass, word) => Math.min(mass, q[word]));
}

/** min(1, p / q) for each word; null for a word that is never guessed. */
export function keepChances(p, q) {
  return p.map((mass, word) => (q[word] > 0 ? Math.min(1, mass / q[word]) : null));
}

/** norm(max(0, p − q)): what the target draws from after a rejection; null where q is p. */
export function residual(p, q) {
  const rest = p.map((mass, word) => Math.max(0, mass - q[word]));
  const total = sum(rest);
  return total > 0 ? rest.map((mass) => mass / total) : null;
}

/**
 * Four rules for writing from p with guesses from q. Each gives, for every word, how often it is
 * written because a guess was kept and how often because the target added it.
 */
export const RULES = {
  right: (p, q) => {
    const kept = keptMass(p, q);
    return { kept, added: p.map((mass, word) => mass - kept[word]) };
  },
  again: (p, q) => {
    const kept = keptMass(p, q);
    return { kept, added: p.map((mass) => (1 - sum(kept)) * mass) };
  },
  argmax: (p, q) => {
    const best = q.indexOf(Math.max(...q));
    const chance = Math.min(1, p[best] / q[best]);
    const rest = residual(p, q) ?? p;
    return {
      kept: p.map((_, word) => (word === best ? chance : 0)),
      added: rest.map((mass) => (1 - chance) * mass),
    };
  },
  match: (p, q) => ({
    kept: p.map((mass, word) => mass * q[word]),
    added: p.map((mass, word) => mass * (1 - q[word])),
  }),
};

/** What a rule writes: the two parts, the distribution that they make, and the share of guesses kept. */
export function outcomeOf(rule, p, q) {
  const { kept, added } = RULES[rule](p, q);
  return { kept, added, written: kept.map((mass, word) => mass + added[word]), rate: sum(kept) };
}

/**
 * Where what was written is not p: the word that comes too often by the most, the one that comes too
 * seldom by the most, and by how much; null where nothing is gained or lost.
 */
export function faultOf(written, p) {
  const gaps = written.map((mass, word) => mass - p[word]);
  const [gained, lost] = [Math.max(...gaps), Math.min(...gaps)];
  if (gained < SAME) return null;
  return { often: gaps.indexOf(gained), gained, seldom: gaps.indexOf(lost), lost: -lost };
}

/** Whether a rule writes p whatever the draft guesses. */
export function isAlwaysRight(rule) {
  return rule === 'right' || rule === 'match';
}

/** Draw a word. */
export function draw(distribution) {
  let left = Math.random();
  for (const [word, mass] of distribution.entries()) {
    left -= mass;
    if (left < 0) return word;
  }
  return distribution.findLastIndex((mass) => mass > 0);
}

/** Round to whole percents that still add up to 100: the largest remainders are rounded up. */
function wholePercents(exact) {
  const whole = exact.map(Math.floor);
  const missing = 100 - sum(whole);
  const rest = (word) => exact[word] - whole[word];
  const byRemainder = exact.map((_, word) => word).sort((a, b) => rest(b) - rest(a));
  for (const word of byRemainder.slice(0, missing)) whole[word] += 1;
  return whole;
}

function sum(masses) {
  return masses.reduce((total, mass) => total + mass, 0);
}

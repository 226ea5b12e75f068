// The lessons' toy: laws over three words, as formulas. p is the target's law, q the draft's.

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
 * written because a guess was kept and how often because the target added it: the sum is its law.
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

/** The law that a rule writes, and the share of guesses it keeps. */
export function outcomeOf(rule, p, q) {
  const { kept, added } = RULES[rule](p, q);
  return { kept, added, law: kept.map((mass, word) => mass + added[word]), rate: sum(kept) };
}

/** Draw a word from a law. */
export function draw(law) {
  let left = Math.random();
  for (const [word, mass] of law.entries()) {
    left -= mass;
    if (left < 0) return word;
  }
  return law.findLastIndex((mass) => mass > 0);
}

function sum(masses) {
  return masses.reduce((total, mass) => total + mass, 0);
}

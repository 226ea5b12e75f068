// "Guess first": hides each fate until the visitor has said kept or thrown away, and keeps the score.

/** Knows how far each round was answered; the score holds for the visit. */
export class Guesses {
  #answers = new WeakMap();
  isOn = false;
  numRight = 0;
  numAsked = 0;
  /** The last answer: the round, the token's place, and whether it was right. */
  last = null;

  /** Whether something of this round is still to be guessed. */
  isOpen(round, beats) {
    return this.isOn && this.#numAnswered(round) < beats.judged.length;
  }

  /** The last beat that may be shown. */
  limit(round, beats) {
    return this.isOpen(round, beats) ? beats.ends[1] + this.#numAnswered(round) : beats.last;
  }

  /** The place of the token that is asked for. */
  asked(round, beats) {
    return beats.judged[this.#numAnswered(round)];
  }

  /** Take an answer for the token that is asked for. */
  answer(round, beats, isKept) {
    const place = this.asked(round, beats);
    const isRight = isKept === (beats.fates[place] === 'accepted');
    this.#answers.set(round, this.#numAnswered(round) + 1);
    this.numAsked += 1;
    this.numRight += isRight ? 1 : 0;
    this.last = { round, place, isRight };
  }

  #numAnswered(round) {
    return this.#answers.get(round) ?? 0;
  }
}

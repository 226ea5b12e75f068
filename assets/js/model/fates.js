// The one table of token fates: what became of a token, its mark, and its css class.

/**
 * @typedef {{ name: string, mark: string, isGuess: boolean, isJudged: boolean }} Fate
 * The name is also the css class and the key of its texts `fate.NAME` and `fate.NAME_meaning`; the
 * mark stands raised after the token, and is empty where an underline or a strike is the mark.
 */

/** @type {Record<string, Fate>} */
export const FATES = Object.fromEntries(
  [
    ['accepted', '', true, true],
    ['rejected', '✗', true, true],
    ['discarded', '', true, false],
    ['correction', '↻', false, false],
    ['bonus', '★', false, false],
    ['plain', '', false, false],
  ].map(([name, mark, isGuess, isJudged]) => [name, { name, mark, isGuess, isJudged }]),
);

/** Where an emitted token that nobody drafted comes from, as a fate. */
export const FATE_OF_SOURCE = { correction: 'correction', bonus: 'bonus', target: 'plain' };

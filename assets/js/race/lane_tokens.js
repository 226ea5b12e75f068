// What a lane writes of a round, and in which order it is read.

/**
 * Give the tokens of a round as they stand in a lane's text, each by itself. Of a tree the guesses that
 * nobody judged would be branches within the text: they are one entry, before what the target added.
 * @param {import('../model/race.js').Round} round
 * @returns {{ tokens: import('../model/race.js').Token[], isRest: boolean }[]}
 */
export function inReadingOrder({ tokens, isTree }) {
  const alone = (token) => ({ tokens: [token], isRest: false });
  if (!isTree) return tokens.map(alone);
  // A guess stands after the one that it follows, and siblings as they were tried.
  const judged = tokens.filter(({ fate }) => fate.isJudged);
  const rest = tokens.filter(({ fate }) => fate.isGuess && !fate.isJudged);
  const added = tokens.filter(({ fate }) => !fate.isGuess);
  const entries = [judged.map(alone), rest.length ? [{ tokens: rest, isRest: true }] : [], added.map(alone)];
  return entries.flat();
}

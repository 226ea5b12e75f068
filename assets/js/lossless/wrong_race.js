// The race that shows a wrong rule at work: the same lane twice, once as it should be.

/** Without a wrong rule chosen, the one that is seen best. */
const SEEN_BEST = 'keep-after-rejection';
/** The only wrong rule that does harm at temperature 0, where the texts must be the same. */
const HARMS_GREEDY = new Set(['keep-after-rejection']);
const TOKENS = 96;

/** The settings of the race, from the form of a proof. */
export function settingsOfWrongRace({ prompt, lane, sampling, uses_chat: chat }) {
  const { target, rule: asked, ...right } = lane;
  const rule = asked === 'right' ? SEEN_BEST : asked;
  const temperature = HARMS_GREEDY.has(rule) ? 0 : Math.max(1, sampling.temperature);
  const lanes = [right, { ...right, rule }];
  return { prompt, temperature, top_k: 0, top_p: 1, seed: sampling.seed, tokens: TOKENS, target, lanes, chat };
}

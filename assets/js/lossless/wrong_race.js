// The race that shows a wrong rule at work: the same lane twice, once as it should be.

/** Whose harm is seen in one text, and at which temperature; of the others only many draws tell. */
const SEEN = { 'keep-after-rejection': 0, 'no-renormalise': 1 };
const SEEN_BEST = 'keep-after-rejection';
const TOKENS = 96;

/** The settings of the race, from the form of a proof. */
export function settingsOfWrongRace({ prompt, lane, sampling, uses_chat: chat }) {
  const { target, rule: asked, ...right } = lane;
  const rule = Object.hasOwn(SEEN, asked) ? asked : SEEN_BEST;
  const lanes = [right, { ...right, rule }];
  return { prompt, temperature: SEEN[rule], top_k: 0, top_p: 1, seed: sampling.seed, tokens: TOKENS, target, lanes, chat };
}

// Sets the page up for a step: prompt, law and lanes, by what this page offers.
import { apply } from '../controls/settings.js';

const PLAIN_LAW = { top_k: 0, top_p: 1, seed: 0 };
const USUAL_GAMMA = 6;

/** Set what a step's preset names; the draft length `'best'` is the best one of the curve. */
export function setUp({ prompt, lanes, ...rest }, data, bestGamma) {
  apply({
    ...PLAIN_LAW,
    ...rest,
    target: data.target,
    ...(prompt && { prompt: data.prompts[prompt] }),
    lanes: lanes.map(({ draft, gamma, ...lane }) => ({
      ...lane,
      gamma: gamma === 'best' ? bestGamma || USUAL_GAMMA : gamma,
      ...offered(draft, data.drafts),
    })),
  });
}

/** The draft whose name ends so; without one the lane takes the page's first. */
function offered(ending, drafts) {
  const draft = ending && drafts.find((name) => name.endsWith(ending));
  return draft ? { draft } : {};
}

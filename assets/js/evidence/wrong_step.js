// A step that a lane's wrong rule got wrong: what the lane did, and beside it what the right rule would have done.
import { wrongSteps } from '../model/wrong_steps.js';
import { tellStep } from '../model/wrong_words.js';
import { make, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';

/**
 * The wrong step that touched a token, null where none did.
 * @param {import('../model/wrong_steps.js').Place} place
 */
export function wrongStepAt(place, token) {
  const index = place.round.tokens.indexOf(token);
  return wrongSteps(place).find(({ tokens }) => tokens.includes(index)) ?? null;
}

/** Draw the two halves, side by side where there is room. */
export function drawStep(step) {
  const half = (side) => {
    const title = make('b', 'sv-wrong-title', t(`wrong.title_${side}`));
    return wrap('div', `sv-wrong-half sv-wrong-${side}`, title, make('p', '', tellStep(step, side)));
  };
  return wrap('div', 'sv-wrong-step', half('did'), half('right'));
}

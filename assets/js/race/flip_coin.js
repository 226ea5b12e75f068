// "Flip this coin": a race forks at a token, into a new race of the same lane as it was and with that coin flipped.
import { coinOf, flippedOf, withFlipped } from '../model/coins.js';
import { hasLive } from '../model/panels.js';
import { make, makeButton, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { raceLive, settingsOf } from './race_live.js';

/**
 * Make the button for a token of a lane, null where no coin can be flipped. A fork forks again: coins flipped before
 * this one stay so, later ones fall as they do, and one that was flipped falls back.
 */
export function makeFlip({ token, lane, race }) {
  const { spec } = lane;
  // Where draft lengths follow measured times, another race would throw other coins.
  const coin = race.isGreedy || spec.schedule === 'auto' ? null : coinOf(lane, token);
  if (coin === null) return null;
  const flipped = flippedOf(spec);
  const coins = withFlipped(flipped, coin);
  const isBack = flipped.includes(coin);
  const act = () => raceLive(forked(race.started, spec, coins));
  const button = makeButton(t(isBack ? 'card.flip_back' : 'card.flip'), act, 'sv-button sv-flip');
  button.title = t(isBack ? 'card.flip_back_title' : 'card.flip_title');
  setEnabled(button, !hasLive());
  const n = flipped.filter((each) => each > coin).length;
  return n ? wrap('div', '', button, make('p', 'sv-evidence-note', t('card.flip_later', { n }))) : button;
}

/** The race of a lane as it is and beside it the same lane with these coins flipped. */
function forked({ request, specs: [alone] }, spec, coins) {
  const settings = settingsOf({ request, specs: [alone, { ...spec, name: null }] });
  const [lane] = settings.lanes;
  return { ...settings, lanes: [lane, { ...lane, flipped_coins: coins }] };
}

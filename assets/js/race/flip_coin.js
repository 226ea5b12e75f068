// "Flip this coin": a race forks at a token, into a new race of the same lane as it was and with that coin flipped.
import { coinOf } from '../model/coins.js';
import { hasLive } from '../model/panels.js';
import { makeButton } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { raceLive, settingsOf } from './race_live.js';

/** Make the button for a token of a lane, null where no coin can be flipped; a lane forks once. */
export function makeFlip({ token, lane, race }) {
  const { spec } = lane;
  const isForked = (spec.flipped_coin ?? null) !== null;
  // Where draft lengths follow measured times, another race would throw other coins.
  const coin = race.isGreedy || isForked || spec.schedule === 'auto' ? null : coinOf(lane, token);
  if (coin === null) return null;
  const button = makeButton(t('card.flip'), () => raceLive(forked(race.started, spec, coin)), 'sv-button sv-flip');
  button.title = t('card.flip_title');
  setEnabled(button, !hasLive());
  return button;
}

function forked({ request, specs: [alone] }, spec, coin) {
  const settings = settingsOf({ request, specs: [alone, { ...spec, name: null }] });
  const [lane] = settings.lanes;
  return { ...settings, lanes: [lane, { ...lane, flipped_coin: coin }] };
}

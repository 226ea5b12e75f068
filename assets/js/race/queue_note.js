// What a strip says of the queue: how a race stands that waits while something else is shown, that its turn
// has come, that its models are downloaded, or that the server has run a held race out.
import { narrate } from '../model/narration.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { isOpen } from '../page/tabs.js';
import { noticeTurn } from './turn_notice.js';
import { watchRecorded } from './welcome.js';

/** Make the note of a panel. */
export function makeQueueNote({ name, playback }) {
  const badge = make('span', 'sv-badge sv-queue-badge');
  const text = make('span', 'sv-queue-text');
  const leave = makeButton('', () => leaveOrStop(playback), 'sv-link sv-leave-queue');
  const watch = makeButton(t('status.watch_meanwhile'), watchRecorded, 'sv-link sv-watch-meanwhile');
  const element = wrap('p', 'sv-queue-note', badge, text, watch, leave);
  element.hidden = true;
  let wasWaiting = false;
  playback.subscribe(() => {
    const sentence = noteOn(playback);
    element.hidden = sentence === null;
    if (sentence !== null) setText(text, sentence);
    const isDownloading = (playback.aside?.race ?? playback.race).isDownloading;
    badge.hidden = playback.aside === null;
    leave.hidden = playback.aside === null && !isDownloading;
    setText(badge, t(isDownloading ? 'status.downloading' : 'status.waiting'));
    setText(leave, t(isDownloading ? 'status.cancel_download' : 'status.leave_queue'));
    watch.hidden = name !== 'race' || playback.race.status.state !== 'waiting';
    const isWaiting = playback.aside !== null || playback.race.status.state === 'waiting';
    if (wasWaiting && playback.isShowing && !isWaiting && !isOpen(name)) noticeTurn(name);
    wasWaiting = isWaiting;
  });
  return element;
}

/** Take the race that waits or downloads back, whether something else is shown or not. */
function leaveOrStop(playback) {
  if (playback.aside) playback.leaveQueue();
  else playback.stop();
}

function noteOn({ aside, race, isRunOut, hasTakenOver }) {
  if (aside) return `${narrate(aside.race)} ${t('status.waits_aside')}`;
  if (race.isDownloading) return t('status.download_goes_on');
  if (race.status.state === 'waiting') return t('status.place_kept');
  if (race.isOver) return null;
  if (isRunOut) return t('status.run_out');
  return hasTakenOver ? t('status.turn_came') : null;
}

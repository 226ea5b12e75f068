// The one line that says what the race is doing; also keeps the buttons in step with it.
import { isMotionReduced, make, setText } from './dom.js';

const IDLE = 'Press Race: the target alone and the target with guesses start together.';
const LABELS = {
  idle: 'ready',
  waiting: 'waiting',
  loading: 'loading',
  running: 'racing',
  finished: 'finished',
  stopped: 'stopped',
  error: 'problem',
};
const BUSY = new Set(['waiting', 'loading', 'running']);
const SPOKEN_EVERY_MS = 4000;
const NARROW_PX = 640;

/** Draw the strip. */
export function mountStatus(place, _data, store) {
  const badge = make('span', 'sv-badge');
  const text = make('span', 'sv-status-text');
  const spoken = make('span', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });
  place.append(badge, text, spoken);
  const speak = speaker(spoken);

  const show = (state, sentence) => {
    place.dataset.state = state;
    setText(badge, LABELS[state]);
    setText(text, sentence);
    speak(sentence, !BUSY.has(state));
    setButtons(BUSY.has(state));
    if (state === 'waiting' && window.innerWidth <= NARROW_PX) {
      place.scrollIntoView({ block: 'start', behavior: isMotionReduced() ? 'auto' : 'smooth' });
    }
  };
  show('idle', IDLE);
  store.subscribe((items) => {
    const last = items.findLast((item) => item.k === 'status');
    if (last) show(last.state, last.text);
  });
}

function setButtons(isBusy) {
  const race = document.getElementById('sv-race');
  const stop = document.getElementById('sv-stop');
  if (race) race.disabled = isBusy;
  if (stop) stop.disabled = !isBusy;
}

/** Speak at most every few seconds, but always the last word. */
function speaker(element) {
  let spokenAt = -SPOKEN_EVERY_MS;
  return (sentence, isLast) => {
    const now = performance.now();
    if (!isLast && now - spokenAt < SPOKEN_EVERY_MS) return;
    spokenAt = now;
    setText(element, sentence);
  };
}

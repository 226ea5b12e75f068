// The one line that says what the race is doing; also keeps the buttons in step with it.
import { isMotionReduced, make, setText } from './dom.js';

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

/** Scenes whose race is on; a visitor has one race at a time, wherever it was started. */
const busyScenes = new Set();

/** Draw the strip. */
export function mountStatus(place, data, store, scene) {
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
    if (BUSY.has(state)) busyScenes.add(scene);
    else busyScenes.delete(scene);
    setButtons();
    if (state === 'waiting' && window.innerWidth <= NARROW_PX) {
      place.scrollIntoView({ block: 'start', behavior: isMotionReduced() ? 'auto' : 'smooth' });
    }
  };
  show('idle', data.idle);
  store.subscribe((items) => {
    const last = items.findLast((item) => item.k === 'status');
    if (last) show(last.state, last.text);
  });
}

function setButtons() {
  const isBusy = busyScenes.size > 0;
  for (const start of document.querySelectorAll('button.sv-start')) start.disabled = isBusy;
  for (const stop of document.querySelectorAll('button.sv-stop')) stop.disabled = !isBusy;
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

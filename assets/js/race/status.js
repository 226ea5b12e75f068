// The strip that says what the race is doing, with the transport in it.
import { onBusyChange, tellBusy, watchBusy } from '../core/busy.js';
import { startLesson } from '../learn/coach.js';
import { isMotionReduced, make, setText } from '../core/dom.js';
import { BUSY } from '../core/pacer.js';
import { aboutRecording, shownSpeed } from '../core/recording.js';
import { t, tell } from '../core/strings.js';
import { mountTransport } from './transport.js';

const LESSON_OF_SLOWER = 'loses';
const SPOKEN_EVERY_MS = 4000;
/** A strip that is higher on the screen than this leaves room enough for the lanes below it. */
const SEEN_SHARE = 0.3;
/** What is shown changes its height as a race begins; a moment later it stands. */
const SETTLED_MS = 100;

onBusyChange((isBusy) => {
  for (const start of document.querySelectorAll('button.sv-start')) start.disabled = isBusy;
  for (const stop of document.querySelectorAll('button.sv-stop')) stop.disabled = !isBusy;
});

/** Draw the strip. */
export function mountStatus(place, data, scene) {
  const strip = new Strip(place, scene);
  mountTransport(place, scene, (text) => strip.refuse(text));
  watchBusy(scene);
  tellBusy();
}

class Strip {
  #place;
  #scene;
  #badge = make('span', 'sv-badge');
  #text = make('span', 'sv-status-text');
  #why = make('button', 'sv-link', t('status.why_slower'), { type: 'button', hidden: '' });
  #progress = make('progress', 'sv-loading', '', { hidden: '', 'aria-label': t('status.progress') });
  #origin = make('p', 'sv-origin', '', { hidden: '' });
  #originText = make('span');
  #refusal = make('p', 'sv-refusal', '', { role: 'alert', hidden: '' });
  #speak;
  #state = 'idle';
  #isSlower = false;
  #badged = null;

  constructor(place, scene) {
    this.#place = place;
    this.#scene = scene;
    const spoken = make('span', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });
    this.#speak = speaker(spoken);
    const line = make('p', 'sv-status-line');
    line.append(this.#badge, this.#text, this.#why);
    this.#origin.append(make('span', 'sv-badge sv-recorded', t('status.recorded')), this.#originText);
    const told = make('div', 'sv-told');
    told.append(line, this.#progress, this.#origin, this.#refusal);
    place.append(told, spoken);
    this.#why.addEventListener('click', () => startLesson(LESSON_OF_SLOWER));
    this.#show({ state: 'idle', text: t(`status.idle_${scene.name}`) });
    scene.store.subscribe((items) => this.#take(items));
    scene.pacer.subscribe((pacer) => this.#follow(pacer));
  }

  /** Say why something could not be done; the race that is shown stays as it is. */
  refuse(text) {
    setText(this.#refusal, text);
    this.#refusal.hidden = text === '';
  }

  #take(items) {
    this.refuse('');
    const figures = items.findLast((item) => item.k === 'figures' || item.k === 'reset');
    if (figures) this.#isSlower = figures.lanes?.some((lane) => lane.is_slower) ?? false;
    const status = items.findLast((item) => item.k === 'status');
    if (status) this.#show(status);
  }

  #show({ state, text }) {
    const hasBegun = state === 'waiting' && this.#state !== 'waiting';
    this.#state = state;
    const sentence = tell(text);
    setText(this.#text, sentence);
    this.#why.hidden = !(state === 'finished' && this.#isSlower);
    this.#progress.hidden = !(state === 'loading' && text.count);
    if (text.count) {
      this.#progress.max = text.count;
      this.#progress.value = text.number - 1;
    }
    this.#speak(sentence, !BUSY.has(state));
    this.#follow(this.#scene.pacer);
    if (hasBegun) this.#comeIntoView();
  }

  /** Whoever starts a race wants to see it: where it is off the screen's first part, it comes there. */
  #comeIntoView() {
    const behavior = isMotionReduced() ? 'auto' : 'smooth';
    setTimeout(() => {
      const { top } = this.#place.getBoundingClientRect();
      const part = this.#place.closest('.sv-status-part');
      if (top > SEEN_SHARE * window.innerHeight) part.scrollIntoView({ block: 'start', behavior });
    }, SETTLED_MS);
  }

  /** Keep the badge up with pausing, and the origin with what is shown. */
  #follow(pacer) {
    const state = pacer.isPaused && pacer.isBusy ? 'paused' : this.#state;
    if (this.#place.dataset.state !== state) this.#place.dataset.state = state;
    setText(this.#badge, t(`status.${state}`));
    this.#origin.hidden = !pacer.recording;
    if (pacer.recording) setText(this.#originText, originOf(pacer));
    this.#badgeStage(pacer.recording);
  }

  /** The stage is badged too: on a small screen the strip scrolls out of sight. */
  #badgeStage(recording) {
    if (recording === this.#badged) return;
    this.#badged = recording;
    const stage = document.getElementById(`sv-${this.#scene.name}-stage`);
    if (!recording) stage?.removeAttribute('data-recorded');
    else stage?.setAttribute('data-recorded', t('status.recorded_of', { about: aboutRecording(recording) }));
  }
}

function originOf({ recording, factor }) {
  return t('status.origin', { about: aboutRecording(recording), speed: shownSpeed(factor) });
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

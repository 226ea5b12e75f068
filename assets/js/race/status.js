// The strip that says what the race is doing, with the transport in it.
import { startLesson } from '../learn/coach.js';
import { narrate } from '../model/narration.js';
import { aboutRecording, aboutSpeed } from '../model/names.js';
import { notifyBusy, onBusyChange } from '../model/panels.js';
import { isMotionReduced, make, makeButton, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { makeLiveOffer } from './race_live.js';
import { makeQueueNote } from './queue_note.js';
import { mountTransport } from './transport.js';

const LESSON_OF_SLOWER = 'loses';
const SPOKEN_EVERY_MS = 4000;
/** A strip that is higher on the screen than this leaves room enough for the lanes below it. */
const SEEN_SHARE = 0.3;
/** What is shown changes its height as a race begins; a moment later it stands. */
const SETTLED_MS = 100;

onBusyChange((isBusy) => {
  setDisabled('button.sv-start', isBusy);
  setDisabled('button.sv-stop', !isBusy);
});

function setDisabled(selector, isDisabled) {
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll(selector);
  for (const button of buttons) button.disabled = isDisabled;
}

/** Draw the strip. */
export function mountStatus(container, data, panel) {
  const strip = new Strip(container, panel);
  mountTransport(container, panel, (text) => strip.refuse(text));
  notifyBusy();
}

class Strip {
  #container;
  #panel;
  #badge = make('span', 'sv-badge');
  #text = make('span', 'sv-status-text');
  #why = makeButton(t('status.why_slower'), () => startLesson(LESSON_OF_SLOWER), 'sv-link', { hidden: '' });
  #progress = make('progress', 'sv-loading', '', { hidden: '', 'aria-label': t('status.progress') });
  #origin = make('p', 'sv-origin', '', { hidden: '' });
  #originText = make('span');
  #refusal = make('p', 'sv-refusal', '', { role: 'alert', hidden: '' });
  #speak;
  #state = 'idle';
  #badged = null;
  /** What is said of the recording that is shown; it is the same in every frame. */
  #about = { recording: null, text: null };

  constructor(container, panel) {
    this.#container = container;
    this.#panel = panel;
    const spoken = make('span', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });
    this.#speak = speaker(spoken);
    const line = wrap('p', 'sv-status-line', this.#badge, this.#text, this.#why);
    this.#origin.append(make('span', 'sv-badge sv-recorded', t('status.recorded')), this.#originText);
    const notes = wrap('div', 'sv-strip-notes', ...makeLiveOffer(panel), makeQueueNote(panel));
    container.append(wrap('div', 'sv-told', line, this.#progress, this.#origin, this.#refusal), notes, spoken);
    panel.playback.follow((race) => this.#show(race));
    panel.playback.subscribe((playback) => this.#follow(playback));
  }

  /** Say why something could not be done; the race that is shown stays as it is. */
  refuse(text) {
    setText(this.#refusal, text);
    this.#refusal.hidden = text === '';
  }

  #show(race) {
    const { state } = race.status;
    const hasBegun = state === 'waiting' && this.#state !== 'waiting';
    this.#state = state;
    this.refuse('');
    const sentence = state === 'idle' ? t(`status.idle_${this.#panel.name}`) : narrate(race);
    setText(this.#text, sentence);
    this.#why.hidden = !(state === 'finished' && race.drafting.some((lane) => lane.isSlower));
    this.#showProgress(state === 'loading' ? race.loading : null);
    this.#speak(sentence, !race.isBusy);
    if (hasBegun) this.#comeIntoView();
  }

  #showProgress(loading) {
    this.#progress.hidden = loading === null;
    if (loading) Object.assign(this.#progress, { max: loading.count, value: loading.number - 1 });
  }

  /** Whoever starts a race wants to see it: where it is off the screen's first part, it comes there. */
  #comeIntoView() {
    const behavior = isMotionReduced() ? 'auto' : 'smooth';
    setTimeout(() => {
      const { top } = this.#container.getBoundingClientRect();
      const part = this.#container.closest('.sv-status-part');
      if (top > SEEN_SHARE * window.innerHeight) part.scrollIntoView({ block: 'start', behavior });
    }, SETTLED_MS);
  }

  /** Keep the badge up with pausing, and the origin with what is shown. */
  #follow({ race, recording, factor, isPaused }) {
    const state = isPaused && race.isBusy ? 'paused' : race.status.state;
    if (this.#container.dataset.state !== state) this.#container.dataset.state = state;
    setText(this.#badge, t(`status.${state}`));
    const about = race.started ? this.#aboutOf(recording, race) : null;
    this.#origin.hidden = about === null;
    if (about) setText(this.#originText, t('status.origin', { about, speed: aboutSpeed(factor) }));
    this.#badgeStage(about);
  }

  #aboutOf(recording, { started }) {
    if (this.#about.recording !== recording) {
      this.#about = { recording, text: recording && aboutRecording(started) };
    }
    return this.#about.text;
  }

  /** The stage is badged too: on a small screen the strip scrolls out of sight. */
  #badgeStage(about) {
    if (about === this.#badged) return;
    this.#badged = about;
    const stage = document.getElementById(`sv-${this.#panel.name}-stage`);
    if (about === null) stage?.removeAttribute('data-recorded');
    else stage?.setAttribute('data-recorded', t('status.recorded_of', { about }));
  }
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

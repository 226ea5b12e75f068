// The strip that says what a race is doing: badge, sentence, progress, and where a recording comes from.
import { narrate } from '../model/narration.js';
import { aboutRecording, aboutSpeed } from '../model/names.js';
import { isMotionReduced, make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { scrollThere } from '../page/scrolling.js';
import { verdictLine } from './verdict_line.js';

const SPOKEN_EVERY_MS = 4000;
/** What is shown changes its height as a race begins; a moment later it stands. */
const SETTLED_MS = 100;

/** Draws the strip of a panel and keeps it up with the race. */
export class Strip {
  #container;
  #panel;
  #badge = make('span', 'sv-badge');
  #text = make('span', 'sv-status-text');
  #progress = make('progress', 'sv-loading', '', { hidden: '', 'aria-label': t('status.progress') });
  #origin = make('p', 'sv-origin', '', { hidden: '' });
  #originText = make('span');
  #recorded = make('span', 'sv-badge sv-recorded', t('status.recorded'));
  #refusal = make('p', 'sv-refusal', '', { role: 'alert', hidden: '' });
  #speak;
  #state = 'idle';
  #badged = null;
  /** What is said of the recording that is shown; it is the same in every frame. */
  #about = { recording: null, text: null };

  /** `notes` are elements that stand below what the strip says. */
  constructor(container, panel, notes = []) {
    this.#container = container;
    this.#panel = panel;
    const spoken = make('span', 'sv-spoken', '', { role: 'status', 'aria-live': 'polite' });
    this.#speak = speaker(spoken);
    const line = wrap('p', 'sv-status-line', this.#badge, this.#text);
    this.#origin.append(this.#recorded, this.#originText);
    const told = [line, verdictLine(panel.name), this.#progress, this.#origin, this.#refusal];
    container.append(wrap('div', 'sv-told', ...told), wrap('div', 'sv-strip-notes', ...notes), spoken);
    panel.playback.follow((race) => this.#show(race));
    panel.playback.subscribe((playback) => this.#follow(playback));
    panel.playback.onRefusal(({ text, field }) => {
      if (field !== 'prompt') this.refuse(sentence(text));
    });
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
    this.#showProgress(race);
    this.#speak(sentence, !race.isBusy);
    if (hasBegun) this.#comeIntoView();
  }

  #showProgress(race) {
    const { status, loading, isDownloading } = race;
    const isShown = loading !== null && (status.state === 'loading' || isDownloading);
    this.#progress.hidden = !isShown;
    if (!isShown) return;
    this.#progress.setAttribute('aria-label', t(isDownloading ? 'status.download_progress' : 'status.progress'));
    const { count, number, done_bytes: done, total_bytes: total } = loading;
    // Before the hub has said how much it is, nobody knows how far it is.
    if (isDownloading && total === 0) this.#progress.removeAttribute('value');
    else if (isDownloading) Object.assign(this.#progress, { max: total, value: done });
    else Object.assign(this.#progress, { max: count, value: number - 1 });
  }

  /** Whoever starts a race wants to see it: all of it fits the screen from here on. */
  #comeIntoView() {
    const scene = this.#container.closest('.sv-scene');
    if (scene) setTimeout(() => scrollThere(scene, isMotionReduced() ? 'instant' : 'smooth'), SETTLED_MS);
  }

  /** Keep the badge up with pausing, and the origin with what is shown. */
  #follow(playback) {
    const { race, recording, isPaused } = playback;
    const { state: raced } = race.status;
    const state = isPaused && raced === 'running' ? 'paused' : raced;
    if (this.#container.dataset.state !== state) this.#container.dataset.state = state;
    const badge = race.isDownloading ? 'downloading' : state;
    setText(this.#badge, t(`status.${badge}`));
    const about = race.started ? this.#aboutOf(recording, race) : null;
    const origin = about ? t('status.origin', { about, speed: aboutSpeed(playback.factor) }) : slowNote(playback);
    this.#origin.hidden = !origin;
    this.#recorded.hidden = about === null;
    setText(this.#originText, origin);
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
    else stage?.setAttribute('data-recorded', t('status.recorded'));
  }
}

/** That a live race is shown slower than it ran, and how long that took. */
function slowNote({ race, factor, isSlowedOnce }) {
  if (factor === 1 || !race.started) return '';
  if (!race.isOver) return t(isSlowedOnce ? 'speed.first_race' : 'speed.slower_now', { n: factor });
  return t('speed.slower_then', { n: factor, seconds: decimals(race.endMs / 1000, 1) });
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

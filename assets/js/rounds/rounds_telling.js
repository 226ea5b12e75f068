// What a round is told in words: the text so far, the three stages, and the sentence for each.
import { make, setText } from '../core/dom.js';
import { STAGES } from './rounds_beats.js';
import { tellDeciding, tellDrafting, tellStage } from './story.js';
import { t } from '../core/strings.js';

const NUM_WORDS = 25;
const SPOKEN_EVERY_MS = 4000;

/** Draws context, stages and story of the open round. */
export class Telling {
  #reader;
  #prompt = make('span', 'sv-so-far-prompt');
  #output = make('span');
  #stages = [];
  #story = make('p', 'sv-round-story');
  #spoken = make('p', 'sv-spoken', '', { 'aria-live': 'polite' });
  #spokenAt = -SPOKEN_EVERY_MS;

  constructor(reader, stop) {
    this.#reader = reader;
    const soFar = make('p', 'sv-so-far');
    const cursor = make('span', 'sv-so-far-cursor', '▏', { 'aria-hidden': 'true' });
    soFar.append(make('span', 'sv-so-far-label', t('rounds.so_far')), this.#prompt, this.#output, cursor);
    const steps = make('div', 'sv-round-stages', '', { role: 'group', 'aria-label': t('rounds.stages') });
    this.#stages = STAGES.map((name, stage) => {
      const button = make('button', 'sv-round-stage', '', { type: 'button' });
      const about = make('span', 'sv-round-stage-about', t(`rounds.about_${name}`));
      button.append(make('b', '', String(stage + 1)), make('span', '', t(`rounds.stage_${name}`)), about);
      button.addEventListener('click', () => {
        stop();
        reader.toBeat(reader.beats.ends[stage]);
      });
      return button;
    });
    steps.append(...this.#stages);
    this.element = make('div', 'sv-round-telling');
    this.element.append(soFar, steps, this.#story, this.#spoken);
  }

  /** Tell what the reader sees; the voice follows a live race at most every few seconds. */
  update(isLive, isPlaying) {
    const { beats, beat, book, lane, index } = this.#reader;
    const { isCut, prompt, output } = book.before(lane, index, NUM_WORDS);
    setText(this.#prompt, (isCut ? '…' : '') + onOneLine(prompt));
    setText(this.#output, onOneLine(output));
    const stage = beats.stageOf(beat);
    this.#stages.forEach((button, place) => {
      button.setAttribute('aria-pressed', String(place === stage));
      button.classList.toggle('is-past', place < stage);
    });
    const story = this.#tell(stage);
    setText(this.#story, story);
    if (!isPlaying || beat === beats.last) this.#speak(story, isLive);
  }

  #tell(stage) {
    const { round, beats, beat, spec, book } = this.#reader;
    const scene = { round, beats, spec, isGreedy: book.start.greedy, plainStep: book.plainStep };
    const isAmid = beat < beats.ends[stage];
    if (stage === 0 && isAmid) return tellDrafting();
    return stage === 2 && isAmid ? tellDeciding(scene) : tellStage(scene, stage);
  }

  #speak(story, isLive) {
    const now = performance.now();
    if (isLive && now - this.#spokenAt < SPOKEN_EVERY_MS) return;
    this.#spokenAt = now;
    setText(this.#spoken, story);
  }
}

function onOneLine(text) {
  return text.replaceAll('\n', '⏎ ');
}

// The first screen: what this is, and a recorded race that plays at one click, without model or queue.
import { onBusyChange } from '../core/busy.js';
import { isMotionReduced, make, setText } from '../core/dom.js';
import { remember, remembered } from '../core/memory.js';
import { FACTORS } from '../core/pacer.js';
import { aboutRecording } from '../core/recording.js';
import { ask } from '../core/server.js';
import { t, tell } from '../core/strings.js';

const KEY = 'specviz-welcome';
const SEEN = 'seen';
/** A race is slowed so that it takes about as long as one likes to watch. */
const WATCHED_SECONDS = 20;
const SETTLED_MS = 100;

/** Draw the welcome; after the first race it is one line. */
export function mountWelcome(place, { races }, { race: scene }) {
  if (!races.length) return;
  const welcome = new Welcome(place, races, scene);
  if (remembered(KEY) === SEEN) welcome.fold();
}

class Welcome {
  #place;
  #scene;
  #races;
  #picker = null;
  #about = make('p', 'sv-welcome-about');
  #more = make('button', 'sv-link', t('welcome.more'), { type: 'button', hidden: '' });
  #refusal = make('p', 'sv-refusal', '', { role: 'alert' });
  #fetched = new Map();
  #wasBusy = false;
  /** The recording that is slowed, how much, and the factor before it; else null. */
  #slow = null;

  constructor(place, races, scene) {
    this.#place = place;
    this.#races = races;
    this.#scene = scene;
    const box = make('section', 'sv-welcome', '', { 'aria-label': t('welcome.name') });
    box.append(this.#story(), this.#offer());
    place.append(box);
    this.#tellAbout();
    scene.pacer.subscribe(({ isBusy }) => {
      if (isBusy && !this.#wasBusy) this.fold();
      this.#wasBusy = isBusy;
      this.#endSlowMotion();
    });
  }

  /** Become one line, now and at the next visit. */
  fold() {
    this.#place.classList.add('is-folded');
    this.#more.hidden = false;
    remember(KEY, SEEN);
  }

  #unfold() {
    this.#place.classList.remove('is-folded');
    this.#more.hidden = true;
  }

  #story() {
    const story = make('div', 'sv-welcome-story');
    const facts = make('ol', 'sv-facts-row');
    for (const name of ['guess', 'check', 'keep']) facts.append(fact(name));
    story.append(make('h2', '', t('welcome.headline')), facts);
    return story;
  }

  #offer() {
    const watch = make('button', 'sv-watch', t('welcome.watch'), { type: 'button' });
    const own = make('button', 'sv-own', t('welcome.own'), { type: 'button' });
    watch.addEventListener('click', () => this.#watch());
    watch.addEventListener('pointerenter', () => this.#fetch(this.#chosen().name));
    own.addEventListener('click', () => this.#tryOwn());
    this.#more.addEventListener('click', () => this.#unfold());
    onBusyChange((isBusy) => {
      watch.disabled = isBusy;
    });
    const row = make('div', 'sv-welcome-row');
    row.append(watch, own);
    if (this.#races.length > 1) row.append(this.#makePicker());
    const offer = make('div', 'sv-welcome-offer');
    offer.append(row, this.#about, this.#more, this.#refusal);
    return offer;
  }

  #makePicker() {
    this.#picker = make('select', 'sv-welcome-picker', '', { 'aria-label': t('welcome.which') });
    this.#races.forEach((race, index) => {
      const lanes = race.lanes.slice(1).map(tell).join(' · ');
      const text = t('welcome.choice', { prompt: opening(race.prompt), law: tell(race.law), lanes });
      this.#picker.append(make('option', '', text, { value: index }));
    });
    this.#picker.addEventListener('change', () => this.#tellAbout());
    return this.#picker;
  }

  #chosen() {
    return this.#races[Number(this.#picker?.value ?? 0)];
  }

  #tellAbout() {
    const race = this.#chosen();
    const badge = make('span', 'sv-badge sv-recorded', t('status.recorded'));
    const factor = factorOf(race);
    const seconds = { seconds: race.seconds, shown: Math.round(race.seconds * factor), n: factor };
    const text = t('welcome.about', { about: aboutRecording(race), ...seconds });
    this.#about.replaceChildren(badge, make('span', '', text));
  }

  /** A recording is asked for once. */
  #fetch(name) {
    if (!this.#fetched.has(name)) this.#fetched.set(name, ask('recorded', name));
    return this.#fetched.get(name);
  }

  async #watch() {
    const race = this.#chosen();
    setText(this.#refusal, '');
    const recording = await this.#fetch(race.name);
    if (recording.error) {
      this.#fetched.delete(race.name);
      return setText(this.#refusal, tell(recording.error));
    }
    if (!this.#scene.pacer.isBusy) this.#play(recording, factorOf(race));
  }

  #play(recording, factor) {
    const { pacer } = this.#scene;
    const before = pacer.factor === this.#slow?.factor ? this.#slow.before : pacer.factor;
    this.#slow = null;
    pacer.setFactor(factor);
    pacer.play(recording);
    this.#slow = { recording, factor, before };
    this.fold();
    // What is shown changes its height as the race begins; a moment later it stands.
    setTimeout(() => scrollTo(document.getElementById('sv-race-status'), 'start'), SETTLED_MS);
  }

  /** The slow motion is the recording's: the race that comes after it goes as fast as before. */
  #endSlowMotion() {
    const { pacer } = this.#scene;
    if (!this.#slow || pacer.recording === this.#slow.recording) return;
    const { factor, before } = this.#slow;
    this.#slow = null;
    if (pacer.factor === factor) pacer.setFactor(before);
  }

  #tryOwn() {
    const field = document.querySelector('#sv-prompt textarea');
    this.fold();
    field.focus({ preventScroll: true });
    scrollTo(field, 'center');
  }
}

/** One of the three facts: a little drawing of tokens, and a sentence. */
function fact(name) {
  const drawing = make('span', 'sv-drawing', '', { 'aria-hidden': 'true' });
  for (const [word, mark] of DRAWINGS[name]) {
    const token = make('span', `sv-tok sv-${mark}`, t(`welcome.word_${word}`));
    token.dataset.mark = MARKS[mark] ?? '';
    drawing.append(token);
  }
  const item = make('li', `sv-fact sv-fact-${name}`);
  item.append(drawing, make('b', '', t(`welcome.${name}`)), make('span', '', t(`welcome.${name}_fact`)));
  return item;
}

const MARKS = { rejected: '✗', correction: '↻' };
const DRAWINGS = {
  guess: [['first', 'guessed'], ['second', 'guessed'], ['wrong', 'guessed']],
  check: [['first', 'accepted'], ['second', 'accepted'], ['wrong', 'rejected']],
  keep: [['first', 'accepted'], ['second', 'accepted'], ['right', 'correction']],
};

function factorOf({ seconds }) {
  const distance = (factor) => Math.abs(seconds * factor - WATCHED_SECONDS);
  return FACTORS.reduce((best, factor) => (distance(factor) < distance(best) ? factor : best));
}

/** The first words of a prompt. */
function opening(prompt) {
  const words = prompt.split(/\s+/).slice(0, 6).join(' ');
  return words.length < prompt.trim().length ? `${words} …` : words;
}

function scrollTo(element, block) {
  element.scrollIntoView({ block, behavior: isMotionReduced() ? 'auto' : 'smooth' });
}

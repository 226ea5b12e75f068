// The first screen: what this is, and a recorded race that plays at one click, without model or queue.
import { aboutLane, aboutRecording, aboutSampling } from '../model/names.js';
import { FATES } from '../model/fates.js';
import { onBusyChange, panels } from '../model/panels.js';
import { FACTORS } from '../model/playback.js';
import { isMotionReduced, make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { remember, remembered } from '../page/memory.js';
import { plain } from '../page/numbers.js';
import { scrollThere } from '../page/scrolling.js';
import { sentence, t } from '../page/strings.js';
import { ask } from '../wire/server.js';

const KEY = 'specviz-welcome';
const SEEN = 'seen';
/** A race is slowed so that it takes about as long as one likes to watch. */
const WATCHED_SECONDS = 20;
const SETTLED_MS = 100;
const DRAWINGS = {
  guess: [['first', 'guessed'], ['second', 'guessed'], ['wrong', 'guessed']],
  check: [['first', 'accepted'], ['second', 'accepted'], ['wrong', 'rejected']],
  keep: [['first', 'accepted'], ['second', 'accepted'], ['right', 'correction']],
};

let shown = null;

/** Play the recorded race that is chosen in the welcome; without one there is nothing to play. */
export function watchRecorded() {
  shown?.watch();
}

/** Draw the welcome; after the first race it is one line. `races` are how each recorded race begins. */
export function mountWelcome(container, { races }) {
  if (!races.length) return;
  const welcome = new Welcome(container, races, panels.race.playback);
  if (remembered(KEY) === SEEN) welcome.fold();
  shown = welcome;
}

class Welcome {
  #container;
  #playback;
  #races;
  #picker = null;
  #about = make('p', 'sv-welcome-about');
  #more = makeButton(t('welcome.more'), () => this.#unfold(), 'sv-link', { hidden: '' });
  #refusal = make('p', 'sv-refusal', '', { role: 'alert' });
  #fetched = new Map();
  #wasBusy = false;

  constructor(container, races, playback) {
    this.#container = container;
    this.#races = races;
    this.#playback = playback;
    const box = wrap('section', 'sv-welcome', this.#story(), this.#offer());
    box.setAttribute('aria-label', t('welcome.name'));
    container.append(box);
    this.#showAbout();
    playback.subscribe(({ isBusy }) => {
      if (isBusy && !this.#wasBusy) this.fold();
      this.#wasBusy = isBusy;
    });
  }

  /** Become one line, now and at the next visit. */
  fold() {
    this.#container.classList.add('is-folded');
    this.#more.hidden = false;
    remember(KEY, SEEN);
  }

  #unfold() {
    this.#container.classList.remove('is-folded');
    this.#more.hidden = true;
  }

  #story() {
    const facts = wrap('ol', 'sv-facts-row', ...Object.keys(DRAWINGS).map(fact));
    return wrap('div', 'sv-welcome-story', make('h2', '', t('welcome.headline')), facts);
  }

  #offer() {
    const watch = makeButton(t('welcome.watch'), () => this.watch(), 'sv-watch');
    watch.addEventListener('pointerenter', () => this.#fetch(this.#chosen().name));
    onBusyChange((_, isShowing) => setEnabled(watch, !isShowing));
    const row = wrap('div', 'sv-welcome-row', watch, makeButton(t('welcome.own'), () => this.#tryOwn(), 'sv-own'));
    if (this.#races.length > 1) row.append(this.#makePicker());
    return wrap('div', 'sv-welcome-offer', row, this.#about, this.#more, this.#refusal);
  }

  #makePicker() {
    this.#picker = make('select', 'sv-welcome-picker', '', { 'aria-label': t('welcome.which') });
    this.#races.forEach(({ started: { request, specs } }, index) => {
      const lanes = specs.slice(1).map((spec) => aboutLane(spec)).join(' · ');
      const law = aboutSampling(request.sampling);
      const text = t('welcome.choice', { prompt: opening(request.prompt), law, lanes });
      this.#picker.append(make('option', '', text, { value: index }));
    });
    this.#picker.addEventListener('change', () => this.#showAbout());
    return this.#picker;
  }

  #chosen() {
    return this.#races[Number(this.#picker?.value ?? 0)];
  }

  #showAbout() {
    const { started, seconds } = this.#chosen();
    const n = factorOf(seconds);
    const values = { seconds: plain(seconds, 1), shown: Math.round(seconds * n), n };
    const text = t('welcome.about', { about: aboutRecording(started), ...values });
    const badge = make('span', 'sv-badge sv-recorded', t('status.recorded'));
    this.#about.replaceChildren(badge, make('span', '', text));
  }

  /** A recording is asked for once. */
  #fetch(name) {
    if (!this.#fetched.has(name)) this.#fetched.set(name, ask('recorded', name));
    return this.#fetched.get(name);
  }

  /** Play the chosen race, slowed so that one likes to watch it. */
  async watch() {
    const { name, seconds } = this.#chosen();
    setText(this.#refusal, '');
    const { packets, error } = await this.#fetch(name);
    if (error) {
      this.#fetched.delete(name);
      return setText(this.#refusal, sentence(error));
    }
    if (!this.#playback.isShowing) this.#play(packets, factorOf(seconds));
  }

  #play(packets, factor) {
    this.#playback.play(packets);
    this.#playback.slowOnce(factor);
    this.fold();
    // What is shown changes its height as the race begins; a moment later it stands.
    const scene = document.querySelector('#sv-tab-race .sv-scene');
    setTimeout(() => scrollThere(scene, isMotionReduced() ? 'instant' : 'smooth'), SETTLED_MS);
  }

  #tryOwn() {
    /** @type {HTMLElement} */
    const field = document.querySelector('#sv-prompt textarea');
    this.fold();
    field.focus({ preventScroll: true });
    scrollTo(field, 'center');
  }
}

/** One of the three facts: a little drawing of tokens, and a sentence. */
function fact(name) {
  const drawing = make('span', 'sv-drawing', '', { 'aria-hidden': 'true' });
  for (const [word, fate] of DRAWINGS[name]) {
    const token = make('span', `sv-tok sv-${fate}`, t(`welcome.word_${word}`));
    token.dataset.mark = FATES[fate]?.mark ?? '';
    drawing.append(token);
  }
  const words = [make('b', '', t(`welcome.${name}`)), make('span', '', t(`welcome.${name}_fact`))];
  return wrap('li', `sv-fact sv-fact-${name}`, drawing, ...words);
}

function factorOf(seconds) {
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

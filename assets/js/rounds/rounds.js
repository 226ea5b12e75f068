// The tab Round by round: step, scrub and play any race, and see why each token was kept or not.
import { make, setText } from '../core/dom.js';
import { Ask } from './rounds_ask.js';
import { Bars } from './rounds_bars.js';
import { Cards } from './rounds_cards.js';
import { Coin } from './rounds_coin.js';
import { TAB_BUTTON, listenForMoves } from './rounds_keys.js';
import { Laws } from './rounds_laws.js';
import { Player } from './rounds_player.js';
import { Reader } from './rounds_reader.js';
import { Telling } from './rounds_telling.js';
import { Times } from './rounds_times.js';
import { Toolbar } from './rounds_toolbar.js';
import { ask } from '../core/server.js';
import { t, tell } from '../core/strings.js';

/** The tab once it is drawn, and the round that was asked for before. */
let tab = null;
let wish = null;

/** Draw the tab; it follows the scene whose race started last. */
export function mountRounds(place, data, scenes) {
  tab = new RoundsTab(place, data, scenes);
  if (wish) tab.show(...wish);
  wish = null;
}

/** Open the tab at a round (from 1) of a lane. */
export function showRound(scene, lane, round) {
  document.getElementById(TAB_BUTTON)?.click();
  if (tab) tab.show(scene, lane, round);
  else wish = [scene, lane, round];
}

class RoundsTab {
  #place;
  #scenes;
  #reader;
  #player;
  #toolbar;
  #telling;
  #parts;
  #empty;
  #body = make('div', 'sv-rounds-body');
  #isStale = false;

  constructor(place, data, scenes) {
    this.#place = place;
    this.#scenes = scenes;
    this.#reader = new Reader(data.outcomes, Object.keys(scenes));
    this.#player = new Player(this.#reader, () => this.#isOver(), () => this.#update(false));
    this.#empty = emptyState(data.recorded, scenes.race, () => this.#toolbar.focus());
    this.#build(data);
    place.append(this.#empty, this.#body);
    this.#reader.subscribe((isLive) => this.#update(isLive));
    listenForMoves(place, this.#reader, this.#player);
    this.#follow();
    this.#update(true);
    // Nothing is drawn while another tab is open; this tells when it is this one again.
    new ResizeObserver(() => {
      if (this.#isStale) this.#update(true);
    }).observe(place);
  }

  /** Go to a round (from 1) of a lane. */
  show(scene, lane, round) {
    this.#player.stop();
    this.#reader.enter(scene, lane);
    this.#reader.to(round - 1);
  }

  #build(data) {
    const reader = this.#reader;
    this.#toolbar = new Toolbar(reader, this.#player, this.#scenes);
    this.#telling = new Telling(reader, () => this.#player.stop());
    const bars = new Bars(reader);
    const cards = new Cards(reader, data.outcomes);
    const question = new Ask(reader);
    const times = new Times(reader);
    const laws = new Laws(reader);
    const coin = new Coin(reader);
    this.#parts = [bars, cards, question, times, laws, coin];
    const head = panel('sv-round-panel', this.#toolbar, bars);
    const round = panel('sv-round-panel', this.#telling, cards, question, times);
    const below = make('div', 'sv-round-below');
    below.append(panel('sv-round-panel', laws), panel('sv-round-panel', coin));
    this.#body.append(head, round, below, make('p', 'sv-round-keys', t('rounds.keys')));
  }

  // A race that goes on is taken in last, so that it is the one that is open.
  #follow() {
    const all = Object.values(this.#scenes).reverse();
    all.sort((a, b) => a.pacer.isBusy - b.pacer.isBusy);
    for (const { name, store, pacer } of all) {
      store.subscribe((items) => {
        if (items.some((item) => item.k === 'start')) this.#player.stop();
        this.#reader.take(name, items, !pacer.isBusy);
      });
    }
  }

  #isOver() {
    return !this.#scenes[this.#reader.scene]?.pacer.isBusy;
  }

  #update(isLive) {
    this.#isStale = !this.#place.checkVisibility();
    const hasRound = Boolean(this.#reader.round);
    this.#empty.hidden = hasRound;
    this.#body.hidden = !hasRound;
    if (this.#isStale || !hasRound) return;
    this.#toolbar.update();
    this.#telling.update(isLive, this.#player.isPlaying);
    for (const part of this.#parts) part.update();
  }
}

function panel(className, ...parts) {
  const element = make('div', className);
  element.append(...parts.map((part) => part.element));
  return element;
}

/** Before any race: what this is, and one button that brings a recorded race. */
function emptyState(name, scene, whenOpen) {
  const element = make('section', 'sv-round-panel sv-round-empty');
  element.append(make('h2', '', t('tab.rounds')), make('p', '', t('rounds.empty')));
  if (!name) return element;
  const button = make('button', 'sv-button sv-round-load', t('rounds.load'), { type: 'button' });
  const refusal = make('p', 'sv-round-refusal', '', { role: 'alert' });
  button.addEventListener('click', async () => {
    button.disabled = true;
    const recording = await ask('recorded', name);
    button.disabled = false;
    if (recording.error) return setText(refusal, tell(recording.error));
    scene.pacer.show(recording);
    whenOpen();
  });
  element.append(button, refusal);
  return element;
}

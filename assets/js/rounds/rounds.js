// The tab Round by round: step, scrub and play any race, and see why each token was kept or not.
import { distributions } from '../evidence/distributions.js';
import { panels } from '../model/panels.js';
import { Playback } from '../model/playback.js';
import { make, makeButton, setText, visible, wrap } from '../page/dom.js';
import { sentence, t } from '../page/strings.js';
import { openTab } from '../page/tabs.js';
import { ask } from '../wire/server.js';
import { makeBranches, makeChosen } from './branches.js';
import { makeCards } from './cards.js';
import { makeCoin } from './coin.js';
import { Cursor, redrawn } from './cursor.js';
import { Player, listenForMoves } from './player.js';
import { makeQuestion, makeTelling, makeTimes, makeWrongSteps } from './telling.js';
import { makeBars, makeToolbar } from './toolbar.js';

/** Goes to a round once the tab is drawn, and the round that was asked for before. */
let goTo = null;
let wish = null;

/**
 * Draw the tab; it follows the panel whose race began last. `recorded` names a race to offer, or is null;
 * `makeLive(raceOf)` makes what races a race here, null where nothing can, and `makeFlip(entry)` what flips a
 * token's coin, or null.
 */
export function mountRounds(container, { recorded }, makeLive = null, makeFlip = () => null) {
  const cursor = new Cursor();
  const player = new Player(cursor, () => update(false));
  const toolbar = makeToolbar(cursor, player, makeLive);
  const head = [toolbar, makeBars(cursor)];
  const round = [makeTelling(cursor, player), makeCards(cursor), makeBranches(cursor), makeChosen(cursor), makeWrongSteps(cursor), makeQuestion(cursor), makeTimes(cursor)];
  const below = [makeDistributions(cursor), makeCoin(cursor, makeFlip)];
  const foot = wrap('div', 'sv-round-below', ...below.map((part) => frame(part)));
  const keys = make('p', 'sv-round-keys', t('rounds.keys'));
  const body = wrap('div', 'sv-rounds-body', frame(...head), frame(...round), foot, keys);
  const sample = { name: 'rounds', playback: new Playback(() => {}) };
  const { element: empty, load } = makeEmptyState(recorded, sample, () => cursor.panel === null);
  let [isStale, wasSeen] = [false, false];

  function update(isLive) {
    isStale = !container.checkVisibility();
    body.hidden = !cursor.round;
    empty.hidden = !body.hidden;
    if (isStale || body.hidden) return;
    for (const part of [...head, ...round, ...below]) part.update(isLive);
  }

  container.append(empty, body);
  cursor.subscribe(update);
  listenForMoves(container, cursor, player);
  follow(cursor, player, [sample, ...Object.values(panels).reverse()]);
  update(true);
  // Nothing is drawn while another tab is open; this tells when it is this one again.
  new ResizeObserver(() => {
    if (!container.checkVisibility()) return;
    if (!wasSeen) load();
    wasSeen = true;
    if (!isStale) return;
    cursor.settle();
    update(true);
  }).observe(container);
  goTo = ({ panel, race, lane, round }) => {
    // A race may have begun since.
    if (panel.playback.race !== race) return;
    player.stop();
    cursor.enter(panel, lane.index, round.number - 1);
  };
  if (wish) goTo(wish);
  wish = null;
}

/** Open the tab at the round of a token, an entry of the stage. */
export function showRound(panel, entry) {
  openTab('rounds');
  standAt(panel, entry);
}

/** Let the tab stand at the round of a token once it is opened. */
export function standAt(panel, { lane, round }) {
  const place = { panel, race: panel.playback.race, lane, round };
  if (goTo) goTo(place);
  else wish = place;
}

/** Take races in; one that goes on is taken in last, so that it is the one that is open. */
function follow(cursor, player, all) {
  all.sort((a, b) => Number(a.playback.isBusy) - Number(b.playback.isBusy));
  for (const panel of all) {
    panel.playback.follow(() => {
      if (cursor.take(panel)) player.stop();
    });
  }
}

/** Both distributions at the position of the chosen token. */
function makeDistributions(cursor) {
  const factsOf = () => [cursor.evidenceOf().token, cursor.evidenceOf().known];
  return redrawn('sv-round-laws', factsOf, (token, known) => {
    const id = known === 'nothing' ? 'rounds.laws' : 'rounds.laws_title';
    const title = t(id, { token: visible(token.text) });
    return [make('h2', '', title), ...distributions(cursor.evidenceOf())];
  });
}

function frame(...parts) {
  return wrap('div', 'sv-round-panel', ...parts.map((part) => part.element));
}

/**
 * Before any race: what this is, and `load()`, which brings a recorded race into the panel `sample` once,
 * as long as it `isWanted()`. Where the server does not answer, a button asks again.
 */
function makeEmptyState(recorded, sample, isWanted) {
  const element = wrap('section', 'sv-round-panel sv-round-empty', make('h2', '', t('tab.rounds')));
  element.append(make('p', '', t('rounds.empty')));
  if (!recorded) return { element, load: () => {} };
  const refusal = make('p', 'sv-round-refusal', '', { role: 'alert' });
  const load = async () => {
    if (button.disabled || !isWanted()) return;
    button.disabled = true;
    const { packets, error = '' } = await ask('recorded', recorded);
    button.disabled = false;
    setText(refusal, error && sentence(error));
    if (!error && isWanted()) sample.playback.show(packets);
  };
  const button = makeButton(t('rounds.load'), load, 'sv-button sv-round-load');
  element.append(button, refusal);
  return { element, load };
}

// The panels of the page: where races run. A visitor has one race at a time, wherever it is shown.
import { Playback } from './playback.js';
import { wishOf } from '../wire/packets.js';

const listeners = [];
let isAnyBusy = false;
let isAnyShowing = false;

/** @typedef {{ name: string, playback: Playback }} Panel */

/** @type {Record<string, Panel>} */
export const panels = Object.fromEntries(['race', 'compare'].map((name) => [name, makePanel(name)]));

function makePanel(name) {
  const playback = new Playback((run, wish, value) => wishOf(playback, run, wish, value));
  return { name, playback };
}

for (const { playback } of Object.values(panels)) playback.subscribe(noteBusy);

/**
 * Call `listener(isBusy, isShowing)` now and whenever a race begins, ends or gets its turn on the page: a
 * race that waits keeps another from starting, and no recording from being shown.
 */
export function onBusyChange(listener) {
  listeners.push(listener);
  listener(isAnyBusy, isAnyShowing);
}

/** Whether a live race waits or goes on: a visitor has one at a time. */
export function hasLive() {
  const isLive = ({ playback: { aside, race, recording } }) => aside || (race.isBusy && recording === null);
  return Object.values(panels).some(isLive);
}

/** Tell all listeners again, for instance because buttons were drawn late. */
export function notifyBusy() {
  for (const listener of listeners) listener(isAnyBusy, isAnyShowing);
}

/** Stop the race that goes on, on whichever panel it is. */
export function stopRaces() {
  for (const { playback } of Object.values(panels)) if (playback.isBusy) playback.stop();
}

function noteBusy() {
  const all = Object.values(panels);
  const isBusy = all.some(({ playback }) => playback.isBusy);
  const isShowing = all.some(({ playback }) => playback.isShowing);
  if (isBusy === isAnyBusy && isShowing === isAnyShowing) return;
  [isAnyBusy, isAnyShowing] = [isBusy, isShowing];
  notifyBusy();
}

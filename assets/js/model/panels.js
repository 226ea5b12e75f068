// The panels of the page: where races run. A visitor has one race at a time, wherever it is shown.
import { Playback } from './playback.js';
import { wishOf } from '../wire/packets.js';

const listeners = [];
let isAnyBusy = false;

/** @typedef {{ name: string, playback: Playback }} Panel */

/** @type {Record<string, Panel>} */
export const panels = Object.fromEntries(['race', 'compare'].map((name) => [name, makePanel(name)]));

function makePanel(name) {
  const playback = new Playback((run, wish, value) => wishOf(playback, run, wish, value));
  return { name, playback };
}

for (const { playback } of Object.values(panels)) playback.subscribe(noteBusy);

/** Call `listener(isBusy)` now and whenever a race begins or ends on the page. */
export function onBusyChange(listener) {
  listeners.push(listener);
  listener(isAnyBusy);
}

/** Tell all listeners again, for instance because buttons were drawn late. */
export function notifyBusy() {
  for (const listener of listeners) listener(isAnyBusy);
}

/** Stop the race that goes on, on whichever panel it is. */
export function stopRaces() {
  for (const { playback } of Object.values(panels)) if (playback.isBusy) playback.stop();
}

function noteBusy() {
  const isBusy = Object.values(panels).some(({ playback }) => playback.isBusy);
  if (isBusy === isAnyBusy) return;
  isAnyBusy = isBusy;
  notifyBusy();
}

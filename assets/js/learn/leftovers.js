// What a step leaves behind: a race that is held, slow motion. The next one begins without it.
import { panels } from '../model/panels.js';

const FULL_SPEED = 1;
/** A recorded race that a lesson plays is over within a few seconds, and can be followed. */
const SHOWN_SLOWER = 4;

/**
 * Let a race that is held go on, and show races at full speed again; a race that goes on by itself is
 * left alone. Gives the race that was let go, whose end belongs to no step, else null.
 */
export function letGo() {
  const { playback } = panels.race;
  const { race, isPaused, isBusy, factor, isByRound } = playback;
  if (isBusy && !isPaused) return null;
  if (factor !== FULL_SPEED || isByRound) playback.setFactor(FULL_SPEED);
  if (isPaused) playback.resume();
  return isBusy ? race : null;
}

/** Play a recorded race in slow motion. */
export function playRecording(packets) {
  const { playback } = panels.race;
  if (playback.isBusy) return;
  playback.setFactor(SHOWN_SLOWER);
  playback.play(packets);
}

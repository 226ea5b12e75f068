// What visitors do, in the one language that lessons understand: happenings.
import { isRight } from '../model/names.js';
import { panels } from '../model/panels.js';
import { onChosenToken } from '../race/token.js';

/**
 * One of `{kind: 'started'}`: a race began; `{kind: 'race', race, isSlower, isIdentical, methods,
 * gammas}`: a race, live or recorded, reached its end, with all draft lengths raced in this visit; `{kind: 'token', fate,
 * isGreedy}`: a token was chosen; `{kind: 'held'}`: a round was shown by itself; `{kind: LAB, …}`:
 * something was done in a lab.
 * @typedef {{ kind: string, [field: string]: any }} Happening
 */

const listeners = [];

/** Tell that something happened. */
export function announce(happening) {
  for (const listener of listeners) listener(happening);
}

/** Call `listener(happening)` whenever something happens. */
export function onHappening(listener) {
  listeners.push(listener);
}

const beginners = [];

/** Call `reset()` whenever a lesson comes to the lab of this name: it starts from its own numbers. */
export function onLesson(lab, reset) {
  beginners.push({ lab, reset });
}

/** A lesson has come to a lab. */
export function beginLab(name) {
  for (const { lab, reset } of beginners) if (lab === name) reset();
}

/** Announce what happens in the races of the page's first tab. */
export function watchRaces() {
  const { playback } = panels.race;
  const gammas = new Set();
  let seen = {};
  playback.follow((race, isNew) => {
    const before = isNew ? {} : seen;
    seen = { started: race.started, numRounds: numRounds(race), state: race.status.state };
    if (seen.started && !before.started) announce({ kind: 'started' });
    if (playback.isPaused && seen.numRounds > (before.numRounds ?? 0)) announce({ kind: 'held' });
    if (seen.state !== 'finished' || before.state === 'finished') return;
    for (const lane of race.drafting) gammas.add(lane.spec.gamma);
    announce({
      kind: 'race',
      race,
      isSlower: race.drafting.some((lane) => lane.isSlower),
      isIdentical: race.drafting.every((lane) => isRight(lane.spec) && lane.verdict?.agreement === 'identical'),
      methods: new Set(race.drafting.map((lane) => lane.spec.method)),
      gammas,
    });
  });
  onChosenToken(({ token }, { isGreedy }) => announce({ kind: 'token', fate: token.fate.name, isGreedy }));
}

function numRounds(race) {
  return race.lanes.reduce((total, lane) => total + lane.rounds.length, 0);
}

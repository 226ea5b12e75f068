// Chooses a pair of the hub and races it; where that does not come to a race, the pair before is chosen again.
import { panels, stopRaces } from '../model/panels.js';
import { openTab } from '../page/tabs.js';
import { offerPair } from './menu.js';
import { apply, current, whenSettled } from './settings.js';

const DRAFT_MODEL = 'draft-model';
const EAGLE3 = 'eagle3';

/** The race that was asked for last, until it has begun or ended: its run, and who waits for that. */
let asked = null;
let isWatching = false;

/**
 * Race a pair that was looked at, downloading what is missing.
 * @returns {Promise<{ target: string } | null>} the settings that are chosen again where no race began
 */
export async function raceOfHub(pair, { draft, head = null }) {
  const { target, lanes } = current();
  const before = { target, lanes };
  offerPair(pair);
  const { gamma } = lanes[0];
  // The target may be on the menu with drafts of other pairs; what was looked at is raced.
  const lane = { ...guesserOf(pair, draft, head), gamma };
  // A recording that is played gives way.
  stopRaces();
  apply({ target: pair.target, lanes: [lane] });
  await whenSettled();
  openTab('race');
  const hasBegun = nextRace();
  document.getElementById('sv-race').click();
  if ((await hasBegun) || target === pair.target) return null;
  if (current().target === pair.target) apply(before);
  return before;
}

/** What guesses: the draft or the head that was looked at, or what the target does by itself. */
function guesserOf({ methods }, draft, head) {
  if (draft !== null) return { method: DRAFT_MODEL, draft };
  if (head !== null) return { method: EAGLE3, head };
  return { method: methods.find((method) => method !== DRAFT_MODEL && method !== EAGLE3) };
}

/** Wait for the next live race: true once it has begun, false where it ended before. */
function nextRace() {
  const { playback } = panels.race;
  asked?.tell(false);
  const told = new Promise((tell) => {
    asked = { before: playback.run, run: null, tell };
  });
  if (!isWatching) {
    isWatching = true;
    playback.subscribe(follow);
    // A prompt that is refused is mended and raced again: the pair stays chosen.
    playback.onRefusal(() => settle(true));
  }
  return told;
}

function follow({ aside, run, race }) {
  if (asked === null) return;
  const live = aside?.run ?? run;
  if (asked.run === null && live !== null && live !== asked.before) asked.run = live;
  if (asked.run === null || aside?.run === asked.run) return;
  if (run !== asked.run) settle(false);
  else if (race.started) settle(true);
  else if (race.isOver) settle(false);
}

function settle(hasBegun) {
  asked?.tell(hasBegun);
  asked = null;
}

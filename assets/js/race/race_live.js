// "Race this here, live": a race that is shown becomes the form's, and starts on this device.
import { pairOf } from '../controls/menu.js';
import { apply, current, isOfHub, onChange, whenSettled } from '../controls/settings.js';
import { flippedOf } from '../model/coins.js';
import { hasLive, panels } from '../model/panels.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { openTab } from '../page/tabs.js';

const LONGEST_PROMPT = 60;
/** What of a lane the form takes. */
const LANE_FIELDS = [
  'method',
  'draft',
  'gamma',
  'schedule',
  'confidence',
  'exit_layer',
  'max_ngram',
  'name',
  'rule',
  'flipped_coins',
  'tree',
  'branches',
  'budget',
  'head',
  'head_reading',
];

/** What of the last such wish this page could not do, as sentences, until its race has begun; else null. */
let pending = null;

/** The settings of a race, from its first event, as the form takes them. */
export function settingsOf({ request, specs }) {
  const { prompt, max_new_tokens: tokens, uses_chat: chat } = request;
  const { temperature, top_k, top_p, seed } = request.sampling;
  const [{ target }, ...drafting] = specs;
  const lanes = drafting.map((spec) => {
    const coins = flippedOf(spec);
    const known = LANE_FIELDS.map((field) => [field, field === 'flipped_coins' ? (coins.length ? coins : null) : spec[field]]);
    return Object.fromEntries(known.filter(([, value]) => value !== null && value !== undefined));
  });
  const settings = { prompt, temperature, top_k, top_p, seed, tokens, target, lanes };
  // Elsewhere the switch says nothing, and stays as it is for the next target.
  return pairOf(target)?.has_chat ? { ...settings, chat } : settings;
}

/** Fill the form with settings and start their race live; what was shown, maybe of this race, ends. */
export async function raceLive(settings, wasShown = false) {
  const { playback } = panels.race;
  if (hasLive()) return;
  if (playback.race.isBusy) playback.stop();
  openTab('race');
  const faults = apply(settings);
  // A model of the hub is looked at first, and started from there.
  if (isOfHub(settings.target)) return;
  if (wasShown) pending = faults;
  await whenSettled();
  document.getElementById('sv-race').click();
}

/** Make the button for the race that `raceOf()` gives; it rests while a live race waits or goes on. */
export function makeLiveButton(raceOf) {
  const button = makeButton(t('live.race'), () => raceLive(settingsOf(raceOf().started), true), 'sv-button sv-race-live');
  for (const { playback } of Object.values(panels)) {
    playback.subscribe(() => {
      const isLive = hasLive();
      setEnabled(button, !isLive);
      const title = t(isLive ? 'live.busy' : 'live.race_title');
      if (button.title !== title) button.title = title;
    });
  }
  return button;
}

/** Make what the strip of a panel says below a recording: its prompt, and the button that races it here. */
export function makeLiveOffer({ playback }) {
  const prompt = make('span', 'sv-live-prompt');
  const offer = wrap('p', 'sv-live-offer', prompt, makeLiveButton(() => playback.race));
  const note = make('p', 'sv-live-note', '', { role: 'status' });
  let shown = null;
  const tell = () => {
    const { recording, race } = playback;
    offer.hidden = !recording || !race.started;
    if (offer.hidden) return;
    const isInForm = race.started.request.prompt === current().prompt;
    setText(prompt, t(isInForm ? 'live.prompt' : 'live.other_prompt', { prompt: opening(race.started.request.prompt) }));
  };
  playback.subscribe(tell);
  onChange(tell);
  playback.follow((race, isNew) => {
    if (isNew && playback.recording === null && pending) {
      shown = race;
      setText(note, pending.length ? t('live.partly', { faults: pending.join(' ') }) : t('live.here'));
      pending = null;
    }
    note.hidden = race !== shown;
  });
  return [offer, note];
}

/** The beginning of a prompt, on one line. */
function opening(prompt) {
  const line = prompt.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_PROMPT ? `${line.slice(0, LONGEST_PROMPT).replace(/\s+\S*$/, '')} …` : line;
}

// "Race this here, live": a race that is shown becomes the form's, and starts on this device.
import { pairOf } from '../controls/menu.js';
import { apply, current, isOfHub, onChange, whenSettled } from '../controls/settings.js';
import { hasLive, panels } from '../model/panels.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { openTab } from '../page/tabs.js';

const LONGEST_PROMPT = 60;

/** What of the last such wish this page could not do, as sentences, until its race has begun; else null. */
let pending = null;

/** The settings of a race, from its first event, as the form takes them. */
export function settingsOf({ request, specs }) {
  const { prompt, max_new_tokens: tokens, uses_chat: chat } = request;
  const { temperature, top_k, top_p, seed } = request.sampling;
  const [{ target }, ...drafting] = specs;
  const lanes = drafting.map(({ method, draft, gamma, exit_layer, max_ngram, name }) => {
    const all = { method, draft, gamma, exit_layer, max_ngram, name };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
  });
  const settings = { prompt, temperature, top_k, top_p, seed, tokens, target, lanes };
  // Elsewhere the switch says nothing, and stays as it is for the next target.
  return pairOf(target)?.has_chat ? { ...settings, chat } : settings;
}

/** Whether a race has a lane with a wrong rule: this page offers none, and would run it right. */
function hasWrongRule({ started }) {
  return started?.specs.some(({ rule }) => rule && rule !== 'right') ?? false;
}

/** Fill the form with a race and start it live; what was shown before ends. Not while one is live. */
export async function raceLive(settings) {
  const { playback } = panels.race;
  if (hasLive()) return;
  if (playback.race.isBusy) playback.stop();
  openTab('race');
  const faults = apply(settings);
  // A model of the hub is looked at first, and started from there.
  if (isOfHub(settings.target)) return;
  pending = faults;
  await whenSettled();
  document.getElementById('sv-race').click();
}

/** Make the button for the race that `raceOf()` gives; it rests while a live race waits or goes on. */
export function makeLiveButton(raceOf) {
  const button = makeButton(t('live.race'), () => raceLive(settingsOf(raceOf().started)), 'sv-button sv-race-live');
  for (const { playback } of Object.values(panels)) {
    playback.subscribe(() => {
      const isLive = hasLive();
      setEnabled(button, !isLive && !hasWrongRule(raceOf() ?? {}));
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
    offer.hidden = !recording || !race.started || hasWrongRule(race);
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

// All settings of the race in one place: Gradio's controls, the lane editor, links and lessons meet here.
import { remember, remembered } from '../core/memory.js';
import { fitLanes, fitSettings } from './settings_fit.js';
import { readLink, withoutSettings } from './settings_link.js';
import { SettingsBar } from './settings_bar.js';

/**
 * @typedef {{ method: string, gamma: number, draft?: string, exit_layer?: number, max_ngram?: number }} Lane
 * @typedef {{ prompt: string, temperature: number, top_k: number, top_p: number, seed: number,
 *   tokens: number, target: string, lanes: Lane[] }} Settings
 */
const KEY = 'specviz-settings';
/** Settings that Gradio's own controls show. */
const PLAIN = ['prompt', 'temperature', 'top_k', 'top_p', 'seed', 'tokens'];

const listeners = [];
let menu = null;
let settings = { lanes: [] };
let bar = null;
let choose = null;

/** A copy of all settings as they stand; before the page is drawn there are no lanes yet. */
export function current() {
  return structuredClone(settings);
}

/** Call `listener(settings)` now, if they are known, and whenever one of them has changed. */
export function onChange(listener) {
  listeners.push(listener);
  if (menu) listener(current());
}

/** Change some settings; what the page does not offer is told and left as it was. */
export function apply(partial) {
  const faults = take(partial);
  bar.tell(faults);
  keep();
}

/** Take a value that one of Gradio's controls has now. */
export function noteSetting(name, value) {
  if (!menu || value === null || settings[name] === value) return;
  settings = { ...settings, [name]: value };
  tellAll();
  bar.tell([]);
  keep();
}

/** Draw the buttons that belong to settings, and begin with those of the address or the last visit. */
export function mountPreset(place, data, chooseFirst) {
  choose = chooseFirst;
  menu = data;
  settings = { ...data.first, lanes: fitLanes(data.first.lanes, data.first.target, data).lanes };
  menu.first = current();
  bar = new SettingsBar(menu, current);
  place.append(...bar.elements);
  const linked = readLink(window.location.search);
  bar.tell(take(linked ?? (isEmbedded() ? {} : readMemory())));
  tellAll();
}

/** Set what fits, and hand it to whom it concerns; the sentences about the rest are returned. */
function take(partial) {
  const before = settings;
  const { fitting, faults } = fitSettings(partial, before, menu);
  settings = fitting;
  if (PLAIN.some((name) => settings[name] !== before[name])) choose(JSON.stringify(settings));
  if (JSON.stringify(settings) !== JSON.stringify(before)) tellAll();
  return faults;
}

function tellAll() {
  for (const listener of listeners) listener(current());
}

/** Remember the settings for the next visit; an address that set others no longer speaks for them. */
function keep() {
  if (isEmbedded()) return;
  remember(KEY, JSON.stringify(settings));
  const address = withoutSettings(window.location.href);
  if (address !== window.location.href) window.history.replaceState(window.history.state, '', address);
}

function readMemory() {
  try {
    const { prompt, ...rest } = JSON.parse(remembered(KEY)) ?? {};
    return prompt?.trim() ? { prompt, ...rest } : rest;
  } catch {
    return {};
  }
}

// What is embedded shows what its address says, whatever the visitor chose on the whole page.
function isEmbedded() {
  return document.documentElement.classList.contains('sv-embed');
}

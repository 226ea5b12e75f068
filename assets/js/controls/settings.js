// The settings of the next race for the whole page: who wants to know or to change them calls here.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { remember, remembered } from '../page/memory.js';
import { t } from '../page/strings.js';
import { pairOf, shareMenu } from './menu.js';
import { linkOf, readLink, withoutSettings } from './link.js';
import { SettingsStore } from './store.js';

const KEY = 'specviz-settings';
const SHOWN_MS = 2500;

const listeners = [];
let store = null;
let bar = null;
/** Whether this page may ask the hub for models that are not on its menu. */
let asksHub = false;
/** Settings for a target that is not on the menu yet, until somebody sees to them; else null. */
let ofHub = null;
const hubListeners = [];
/** Whether something was changed on this page; until then its address speaks for the settings. */
let isTouched = false;

/** All settings as they stand, not to be changed in place; before the page is drawn no lanes. */
export function current() {
  return store?.values ?? { lanes: [] };
}

/**
 * Call `listener(settings, origin)` now, if they are known, and whenever one of them has changed;
 * `origin` is what whoever changed them gave to `apply`.
 */
export function onChange(listener) {
  listeners.push(listener);
  if (store) listener(store.values, null);
}

/**
 * Wish for some settings; of what the page does not offer the visitor is told, in the sentences that
 * are given back. Target and lanes change at once, the others as soon as Gradio's controls hold them.
 */
export function apply(some, origin = null) {
  isTouched = true;
  const faults = wish(some, origin);
  bar.show(faults);
  keep();
  return faults;
}

/**
 * Call `listener(settings)` with settings for a model of the hub that nobody has looked at, now if there
 * are any and whenever some are wished for: target and lanes stay as they are until it was looked at.
 */
export function onHubWish(listener) {
  hubListeners.push(listener);
  if (ofHub) listener(ofHub);
}

/** Whether a target has to be looked at on the hub before it can be chosen. */
export function isOfHub(target) {
  return asksHub && target.includes('/') && !pairOf(target);
}

/** Wait until Gradio's controls hold all that was wished for. */
export function whenSettled() {
  return store.whenSettled();
}

/** Whether Gradio's controls hold all that they were asked for. */
export function isSettled() {
  return store?.isSettled ?? false;
}

/** Take a value that one of Gradio's controls holds now. */
export function noteSetting(name, value) {
  if (!store) return;
  if (store.note(name, value)) {
    isTouched = true;
    bar.show([]);
  }
  if (isTouched) keep();
}

/** Draw the buttons that belong to settings, and begin with those of the address or the last visit. */
export function mountSettings(container, menu, choose) {
  asksHub = menu.asks_hub;
  store = new SettingsStore(shareMenu(menu), (some) => choose(JSON.stringify(some)), notify);
  bar = new SettingsBar(() => linkOf(store.values, window.location.href));
  container.append(...bar.elements);
  const begun = readLink(window.location.search) ?? (isEmbedded() ? {} : readMemory());
  bar.show(wish(begun));
  notify(store.values, null);
}

/** Wish for what the store can do, and hand on what has to be asked of the hub first. */
function wish(some, origin = null) {
  ofHub = some.target && isOfHub(some.target) ? some : null;
  if (!ofHub) return store.wish(some, origin);
  // Target and lanes stay as they are until it was looked at.
  const faults = store.wish({ ...some, target: undefined, lanes: undefined }, origin);
  for (const listener of hubListeners) listener(some);
  return [...faults, t('hub.look_first', { target: some.target })];
}

function notify(values, origin) {
  for (const listener of listeners) listener(values, origin);
  bar.renew();
}

/** Remember the settings for the next visit; an address that set others no longer speaks for them. */
function keep() {
  if (isEmbedded()) return;
  remember(KEY, JSON.stringify(store.values));
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

/** What is embedded shows what its address says, whatever the visitor chose on the whole page. */
function isEmbedded() {
  return document.documentElement.classList.contains('sv-embed');
}

/** Below the race's buttons: a link to these settings, and what of a wish the page could not do. */
class SettingsBar {
  #link;
  #copy = makeButton(t('preset.copy'), () => this.#copyLink(), 'sv-button sv-copy');
  #open = make('a', 'sv-whole', t('preset.open'), { target: '_blank', rel: 'noopener' });
  #spoken = make('span', 'sv-spoken', '', { role: 'status' });
  #field = make('input', 'sv-link-field', '', { readonly: '', 'aria-label': t('preset.link'), hidden: '' });
  #notes = make('div', 'sv-preset-notes', '', { role: 'status' });
  #timer = 0;

  /** `link()` gives the address of the page with the settings as they stand. */
  constructor(link) {
    this.#link = link;
    this.#field.addEventListener('focus', () => this.#field.select());
    const row = wrap('div', 'sv-preset-row', this.#copy, this.#open, this.#spoken);
    this.elements = [row, this.#field, this.#notes];
  }

  /** Show sentences about settings that could not be made; they go away with the next change. */
  show(sentences) {
    this.#notes.replaceChildren(...sentences.map((sentence) => make('p', '', sentence)));
  }

  /** The settings are others now. */
  renew() {
    this.#open.href = this.#link();
  }

  async #copyLink() {
    const link = this.#link();
    try {
      await navigator.clipboard.writeText(link);
      this.#field.hidden = true;
      this.#say(t('preset.copied'));
    } catch {
      // Without a secure address a page may not write to the clipboard: the visitor copies by hand.
      this.#field.hidden = false;
      this.#field.value = link;
      this.#field.focus();
      this.#say(t('preset.copy_by_hand'));
    }
  }

  /** Say on the button itself, and to a screen reader, what became of the press. */
  #say(text) {
    setText(this.#copy, text);
    setText(this.#spoken, text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      setText(this.#copy, t('preset.copy'));
      setText(this.#spoken, '');
    }, SHOWN_MS);
  }
}

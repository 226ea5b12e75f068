// Below the race's buttons: a link to these settings, and what of a link the page could not do.
import { make, setText } from '../core/dom.js';
import { linkOf } from './settings_link.js';
import { t } from '../core/strings.js';

const SHOWN_MS = 2500;

export class SettingsBar {
  #menu;
  #current;
  #copy = make('button', 'sv-button sv-copy', t('preset.copy'), { type: 'button' });
  #open = make('a', 'sv-whole', t('preset.open'), { target: '_blank', rel: 'noopener' });
  #spoken = make('span', 'sv-spoken', '', { role: 'status' });
  #field = make('input', 'sv-link-field', '', { readonly: '', 'aria-label': t('preset.link') });
  #notes = make('div', 'sv-preset-notes', '', { role: 'status' });
  #timer = null;

  /** `current()` gives the settings that a link is made of. */
  constructor(menu, current) {
    this.#menu = menu;
    this.#current = current;
    this.#copy.addEventListener('click', () => this.#copyLink());
    this.#field.hidden = true;
    this.#field.addEventListener('focus', () => this.#field.select());
    for (const event of ['pointerdown', 'focus']) {
      this.#open.addEventListener(event, () => this.#setOpenLink());
    }
    const row = make('div', 'sv-preset-row');
    row.append(this.#copy, this.#open, this.#spoken);
    this.elements = [row, this.#field, this.#notes];
    this.#setOpenLink();
  }

  /** Show sentences about settings that could not be made; they go away with the next change. */
  tell(sentences) {
    this.#notes.replaceChildren(...sentences.map((sentence) => make('p', '', sentence)));
    this.#setOpenLink();
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

  #setOpenLink() {
    this.#open.href = this.#link();
  }

  #link() {
    return linkOf(this.#current(), this.#menu.first, window.location.href);
  }
}

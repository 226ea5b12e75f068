// Below the prompt: what the chosen target is and has read, and why a prompt was refused or cut.
import { pairOf } from './menu.js';
import { current, onChange } from './settings.js';
import { panels } from '../model/panels.js';
import { make, setText } from '../page/dom.js';
import { compact, listed, plain } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';

const FIELD = '#sv-prompt textarea';
const NOTE_ID = 'sv-prompt-note';

/** Draw both lines; a refusal stands there until the prompt is another or a race begins. */
export function mountPrompt(container, { max_chars: allowed, targets }) {
  const note = new PromptNote();
  const about = make('p', 'sv-target-about');
  container.append(note.element, about);
  onChange(({ target }) => setText(about, aboutTarget(target, targets[target] ?? pairOf(target) ?? {})));
  onChange(({ prompt }) => note.follow(prompt));
  document.addEventListener('paste', (event) => notePaste(event, allowed, note));
  const { playback } = panels.race;
  playback.onRefusal(({ text, field }) => {
    if (field === 'prompt') note.refuse(sentence(text));
  });
  playback.follow((race, isNew) => {
    if (isNew && race.isBusy) note.clear();
  });
}

/** Bring the prompt into view and the keys to it. */
export function focusPrompt() {
  field()?.focus();
}

/** What a target is and has read, as far as that is known. */
export function aboutTarget(target, { num_parameters: count = null, kinds = [], languages = [] }) {
  const weights = count === null ? null : t('reading.weights', { n: compact(count) });
  if (!kinds.length) {
    return weights ? t('reading.unknown', { target, weights }) : t('reading.nothing_known', { target });
  }
  return t('reading.about', {
    target,
    weights,
    kinds: listed(kinds.map((kind) => t(`reading.${kind}`))),
    languages: listed(languages.map((code) => t(`reading.in_${code}`))),
  });
}

/** How long the field's text would be with what is pasted, in the characters that the field counts. */
export function lengthAfterPaste({ value, selectionStart, selectionEnd }, pasted) {
  return value.length - (selectionEnd - selectionStart) + pasted.length;
}

/** The browser cuts what does not fit without a word. */
function notePaste(event, allowed, note) {
  if (!event.target.matches?.(FIELD)) return;
  const pasted = event.clipboardData?.getData('text') ?? '';
  const chars = lengthAfterPaste(event.target, pasted.replaceAll('\r\n', '\n'));
  if (chars > allowed) note.warn(t('reading.cut', { chars: plain(chars), allowed: plain(allowed) }));
}

/** @returns {HTMLTextAreaElement | null} */
function field() {
  return document.querySelector(FIELD);
}

/** One sentence at the field about its text. */
class PromptNote {
  #about = null;
  element = make('p', 'sv-prompt-note', '', { id: NOTE_ID, role: 'alert', hidden: '' });

  /** Say why the prompt was not raced, and bring the keys to it. */
  refuse(text) {
    this.#show(text);
    this.#about = current().prompt;
    field()?.setAttribute('aria-invalid', 'true');
    focusPrompt();
  }

  /** Say what became of the prompt. */
  warn(text) {
    this.#show(text);
    // The field tells its new text a moment later.
    this.#about = null;
  }

  /** Keep a sentence while it speaks of the prompt as it stands. */
  follow(prompt) {
    if (this.element.hidden) return;
    if (this.#about === null) this.#about = prompt;
    else if (prompt !== this.#about) this.clear();
  }

  clear() {
    this.element.hidden = true;
    field()?.removeAttribute('aria-invalid');
    field()?.removeAttribute('aria-describedby');
  }

  #show(text) {
    setText(this.element, text);
    this.element.hidden = false;
    field()?.setAttribute('aria-describedby', NOTE_ID);
  }
}

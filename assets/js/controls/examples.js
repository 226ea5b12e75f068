// Example prompts: a row of groups, the prompts of the open group, and what to watch in the chosen one.
import { make } from '../core/dom.js';
import { apply, onChange } from './settings.js';
import { t } from '../core/strings.js';

/** Draw the gallery; a prompt that is pressed, and what its hint invites to, become the settings. */
export function mountExamples(place, { groups }) {
  const gallery = new Gallery(groups);
  place.append(...gallery.elements);
}

class Gallery {
  #parts;
  #hint = make('p', 'sv-hint', '', { role: 'status' });
  #tryRow = make('div', 'sv-tries');
  #tries = [];
  #shown = null;

  constructor(groups) {
    this.#parts = groups.map((group) => this.#part(group));
    const tabs = make('div', 'sv-groups', '', { role: 'group', 'aria-label': t('gallery.kinds') });
    const surprise = make('button', 'sv-surprise', t('gallery.surprise'), { type: 'button' });
    surprise.addEventListener('click', () => this.#surprise());
    tabs.append(...this.#parts.map((part) => part.tab));
    const chips = make('div', 'sv-chips');
    chips.append(...this.#parts.map((part) => part.row), surprise);
    const watch = make('div', 'sv-hint-line');
    watch.append(this.#hint, this.#tryRow);
    this.elements = [tabs, chips, watch];
    this.#open(this.#parts[0]);
    onChange((settings) => this.#follow(settings));
  }

  /** A group: the button that opens it, and the row of its prompts. */
  #part(group) {
    const name = t(`prompt.${group.id}`);
    const label = t('gallery.prompts_of', { group: name });
    const row = make('div', 'sv-chip-row', '', { role: 'group', 'aria-label': label });
    const chips = group.examples.map((example) => chipOf(example));
    row.append(...chips.map((chip) => chip.button));
    const tab = make('button', 'sv-group', name, { type: 'button' });
    const part = { row, tab, chips };
    tab.addEventListener('click', () => this.#open(part));
    return part;
  }

  #open(opened) {
    for (const part of this.#parts) {
      part.row.hidden = part !== opened;
      part.tab.setAttribute('aria-pressed', String(part === opened));
    }
  }

  /** Choose any prompt but the one that is there. */
  #surprise() {
    const chips = this.#parts.flatMap((part) => part.chips);
    const others = chips.filter(({ example }) => example !== this.#shown);
    apply({ prompt: others[Math.floor(Math.random() * others.length)].example.prompt });
  }

  /** Mark the prompt that stands in the field and say what to watch in it; none, if it is one's own. */
  #follow(settings) {
    const has = ({ example }) => example.prompt === settings.prompt;
    const part = this.#parts.find(({ chips }) => chips.some(has));
    const example = part?.chips.find(has).example ?? null;
    if (example !== this.#shown) this.#show(example, part);
    for (const { button, partial } of this.#tries) {
      button.setAttribute('aria-pressed', String(covers(settings, partial)));
    }
  }

  #show(example, part) {
    this.#shown = example;
    if (part) this.#open(part);
    for (const chip of this.#parts.flatMap(({ chips }) => chips)) {
      chip.button.setAttribute('aria-pressed', String(chip.example === example));
    }
    this.#tries = Object.entries(example?.tries ?? {}).map(tryOf);
    this.#tryRow.replaceChildren(...this.#tries.map(({ button }) => button));
    this.#hint.replaceChildren();
    if (!example) return;
    const text = make('span', '', t(`prompt.${example.id}_hint`));
    this.#hint.append(make('strong', '', t('gallery.watch')), text);
  }
}

function chipOf(example) {
  const text = t(`prompt.${example.id}`);
  const button = make('button', 'sv-chip', text, { type: 'button', title: example.prompt });
  button.addEventListener('click', () => apply({ prompt: example.prompt }));
  return { button, example };
}

/** A button that makes the settings that a hint speaks of; it is pressed while they are made. */
function tryOf([name, partial]) {
  const button = make('button', 'sv-try', t(`prompt.try_${name}`), { type: 'button' });
  button.addEventListener('click', () => apply(partial));
  return { button, partial };
}

/** Whether `value` has all that `part` asks for; lists must be equally long. */
function covers(value, part) {
  if (typeof part !== 'object') return value === part;
  if (Array.isArray(part) && value?.length !== part.length) return false;
  return Object.entries(part).every(([key, each]) => covers(value?.[key], each));
}

// Example prompts: a row of groups, the prompts of the open group, and what to watch in the chosen one.
import { make, makeButton, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { pairOf } from './menu.js';
import { apply, onChange } from './settings.js';

/** Draw the gallery; a prompt that is pressed, and what its hint invites to, become the settings. */
export function mountExamples(container, { groups }) {
  container.append(...new Gallery(groups).elements);
}

class Gallery {
  #groups;
  #chips;
  #hint = make('p', 'sv-hint', '', { role: 'status' });
  #tryRow = make('div', 'sv-tries');
  #tries = [];
  #shown = null;
  /** The target that the hint speaks to. */
  #target = null;

  constructor(groups) {
    this.#groups = groups.map((group) => this.#group(group));
    this.#chips = this.#groups.flatMap(({ chips }) => chips);
    const tabs = make('div', 'sv-groups', '', { role: 'group', 'aria-label': t('gallery.kinds') });
    tabs.append(...this.#groups.map(({ tab }) => tab));
    const surprise = makeButton(t('gallery.surprise'), () => this.#surprise(), 'sv-surprise');
    const rows = wrap('div', 'sv-chips', ...this.#groups.map(({ row }) => row), surprise);
    this.elements = [tabs, rows, wrap('div', 'sv-hint-line', this.#hint, this.#tryRow)];
    this.#open(this.#groups[0]);
    onChange((settings) => this.#follow(settings));
  }

  /** A group: the button that opens it, and the row of its prompts. */
  #group({ id, examples }) {
    const name = t(`prompt.${id}`);
    const label = t('gallery.prompts_of', { group: name });
    const row = make('div', 'sv-chip-row', '', { role: 'group', 'aria-label': label });
    const chips = examples.map((example) => {
      const choose = () => apply({ prompt: example.prompt });
      const title = { title: example.prompt };
      return { example, button: makeButton(t(`prompt.${example.id}`), choose, 'sv-chip', title) };
    });
    row.append(...chips.map(({ button }) => button));
    const group = { row, chips, tab: makeButton(name, () => this.#open(group), 'sv-group') };
    return group;
  }

  #open(opened) {
    for (const group of this.#groups) {
      group.row.hidden = group !== opened;
      showPressed(group.tab, group === opened);
    }
  }

  /** Choose any prompt but the one that is there. */
  #surprise() {
    const others = this.#chips.filter(({ example }) => example !== this.#shown);
    apply({ prompt: others[Math.floor(Math.random() * others.length)].example.prompt });
  }

  /** Mark the prompt that stands in the field and say what to watch in it; none, if it is one's own. */
  #follow(settings) {
    const chosen = this.#chips.find(({ example }) => example.prompt === settings.prompt);
    const isNew = (chosen?.example ?? null) !== this.#shown || settings.target !== this.#target;
    this.#target = settings.target;
    if (isNew) this.#show(chosen);
    for (const { button, some } of this.#tries) showPressed(button, covers(settings, some));
  }

  #show(chosen) {
    const example = chosen?.example ?? null;
    this.#shown = example;
    if (chosen) this.#open(this.#groups.find(({ chips }) => chips.includes(chosen)));
    for (const chip of this.#chips) showPressed(chip.button, chip === chosen);
    this.#tries = Object.entries(example?.tries ?? {}).map(([name, some]) => ({
      some,
      button: makeButton(t(`prompt.try_${name}`), () => apply(some), 'sv-try'),
    }));
    this.#tryRow.replaceChildren(...this.#tries.map(({ button }) => button));
    this.#hint.replaceChildren();
    if (!example) return;
    if (!pairOf(this.#target)?.is_known) {
      this.#hint.append(make('span', '', t('gallery.other_target', { target: this.#target })));
      return;
    }
    const text = make('span', '', t(`prompt.${example.id}_hint`));
    this.#hint.append(make('strong', '', t('gallery.watch')), text);
  }
}

/** Show a button as pressed while what it stands for is so. */
function showPressed(button, isPressed) {
  button.setAttribute('aria-pressed', String(isPressed));
}

/** Whether `value` has all that `part` asks for; lists must be equally long. */
function covers(value, part) {
  if (typeof part !== 'object') return value === part;
  if (Array.isArray(part) && value?.length !== part.length) return false;
  return Object.entries(part).every(([key, each]) => covers(value?.[key], each));
}

// One lane that guesses in the lane editor: its method, what that takes, and γ.
import { make, setText } from '../core/dom.js';
import { fitLanes } from './settings_fit.js';
import { t } from '../core/strings.js';

/** Radio buttons of one lane share a name that no other lane has. */
let numRows = 0;

export class LaneRow {
  #pair;
  #menu;
  #tasks;
  /** All that was ever chosen here, so that going back to a method finds its choices again. */
  #chosen;
  #radios;
  #legend = make('legend', 'sv-spoken');
  /** The same for the eye, where the lanes stand below one another on a phone. */
  #name = make('b', 'sv-editor-name', '', { 'aria-hidden': 'true' });
  #detail = make('div', 'sv-editor-detail');
  #duplicate;
  #remove;

  /** `tasks` are called as the visitor acts: edit(), duplicate(row), remove(row). */
  constructor(lane, pair, menu, tasks) {
    this.#pair = pair;
    this.#menu = menu;
    this.#tasks = tasks;
    this.#chosen = { ...lane };
    this.#duplicate = toolButton('is-duplicate', () => tasks.duplicate(this));
    this.#remove = toolButton('is-remove', () => tasks.remove(this));
    const group = make('fieldset', 'sv-editor-group');
    const top = make('div', 'sv-editor-top');
    const dot = make('i', 'sv-lane-dot', '', { 'aria-hidden': 'true' });
    top.append(dot, this.#name, this.#methods(), this.#duplicate, this.#remove);
    const bottom = make('div', 'sv-editor-bottom');
    bottom.append(this.#detail, ...this.#numberField('gamma'));
    group.append(this.#legend, top, bottom);
    this.element = make('li', 'sv-editor-lane');
    this.element.append(group);
    this.#drawDetail();
  }

  /** The lane as it is set now. */
  get lane() {
    return fitLanes([this.#chosen], this.#pair.target, this.#menu).lanes[0];
  }

  /** Say which lane this is, and whether it may go or be doubled. */
  number(number, { isOnly, isFull }) {
    for (const place of [this.#legend, this.#name]) setText(place, t('editor.lane', { number }));
    nameButton(this.#duplicate, t('editor.duplicate', { number }));
    nameButton(this.#remove, t('editor.remove', { number }));
    this.#duplicate.disabled = isFull;
    this.#remove.disabled = isOnly;
  }

  focus() {
    this.#radios.find((radio) => radio.checked).focus();
  }

  #set(part) {
    Object.assign(this.#chosen, part);
    // A name that a lesson gave says what ran before.
    delete this.#chosen.name;
    this.#tasks.edit();
  }

  #methods() {
    numRows += 1;
    const group = make('div', 'sv-editor-methods', '', { role: 'radiogroup', 'aria-label': t('editor.method') });
    const { method: chosen } = this.lane;
    const labels = this.#pair.methods.map((method) => {
      const label = make('label', 'sv-editor-method');
      const radio = make('input', '', '', { type: 'radio', name: `sv-method-${numRows}`, value: method });
      radio.checked = method === chosen;
      radio.addEventListener('change', () => {
        this.#set({ method });
        this.#drawDetail();
      });
      label.append(radio, make('span', '', t(`editor.${method.replace('-', '_')}`)));
      return label;
    });
    this.#radios = labels.map((label) => label.firstChild);
    group.append(...labels);
    return group;
  }

  /** What the chosen method takes besides γ. */
  #drawDetail() {
    const { method } = this.lane;
    this.#detail.replaceChildren();
    if (method === 'draft-model') this.#detail.append(this.#choice('draft', this.#pair.drafts));
    if (method === 'early-exit' && this.#pair.exits.length) {
      this.#detail.append(this.#choice('exit_layer', this.#pair.exits));
    }
    if (method === 'prompt-lookup') this.#detail.append(this.#ngramField());
  }

  #choice(name, values) {
    const label = make('label', 'sv-editor-field');
    const select = make('select');
    select.append(...values.map((value) => make('option', '', String(value))));
    select.selectedIndex = values.indexOf(this.lane[name]);
    select.addEventListener('change', () => this.#set({ [name]: values[select.selectedIndex] }));
    label.append(make('span', '', t(`editor.${name}`)), select);
    return label;
  }

  #ngramField() {
    const label = make('label', 'sv-editor-field');
    label.append(make('span', '', t('editor.max_ngram')), this.#numberInput('max_ngram'));
    return label;
  }

  /** A slider with its number, for one value. */
  #numberField(name) {
    const [low, high, step] = this.#menu.spans[name];
    const label = make('label', 'sv-editor-field');
    const number = this.#numberInput(name, (value) => slide(value));
    label.append(make('span', '', t(`editor.${name}`)), number);
    const attributes = { type: 'range', min: low, max: high, step, 'aria-label': t(`editor.${name}`) };
    const slider = make('input', 'sv-editor-slider', '', attributes);
    const slide = (value) => {
      slider.value = value;
      slider.style.setProperty('--sv-share', (slider.value - low) / (high - low));
    };
    slide(this.lane[name]);
    slider.addEventListener('input', () => {
      slide(slider.value);
      number.value = slider.value;
      this.#set({ [name]: Number(slider.value) });
    });
    return [label, slider];
  }

  /** A number; what is beyond its limits becomes the nearest that is allowed. */
  #numberInput(name, follow = () => {}) {
    const [low, high, step] = this.#menu.spans[name];
    const input = make('input', '', '', { type: 'number', min: low, max: high, step, inputmode: 'numeric' });
    input.value = this.lane[name];
    input.addEventListener('change', () => {
      const asked = input.value === '' ? this.lane[name] : Math.round(Number(input.value));
      input.value = Math.min(high, Math.max(low, asked));
      follow(input.value);
      this.#set({ [name]: Number(input.value) });
    });
    return input;
  }
}

/** A button whose sign the styles draw: fonts differ in such signs. */
function toolButton(sign, act) {
  const button = make('button', `sv-editor-tool ${sign}`, '', { type: 'button' });
  button.addEventListener('click', act);
  return button;
}

function nameButton(button, name) {
  button.title = name;
  button.setAttribute('aria-label', name);
}

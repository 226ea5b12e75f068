// The lanes of the next race: the target alone, which always runs, and one to three that draft.
import { keyOf } from '../model/names.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t, translate } from '../page/strings.js';
import { watchChatSwitch } from './chat_switch.js';
import { onOffer, shareMenu } from './menu.js';
import { apply, onChange } from './settings.js';
import { fitLanes } from './store.js';

/** Draw the editor; `choose(json)` is called with the lanes that draft. */
export function mountLanes(container, menu, choose) {
  const editor = new LaneEditor(shareMenu(menu));
  container.append(...editor.elements);
  let shown = {};
  onChange(({ target, lanes }, origin) => {
    if (target === shown.target && lanes === shown.lanes) return;
    shown = { target, lanes };
    choose(JSON.stringify(lanes.map((lane) => ({ ...lane, target }))));
    // A row that is in use must not be drawn anew.
    if (!editor.has(origin)) editor.draw(target, lanes);
  });
  onOffer(() => editor.draw(shown.target, shown.lanes));
  watchChatSwitch();
}

class LaneEditor {
  #menu;
  #pair;
  /** @type {LaneRow[]} */
  #rows = [];
  #select = make('select');
  #picker = field('target', this.#select);
  #list = make('ol', 'sv-editor-list');
  #add = makeButton(t('editor.add'), () => this.#insert(this.#rows.length, this.#another()), 'sv-button sv-add');
  #count = make('span', 'sv-editor-count');
  /** Says to a screen reader what a button has just done. */
  #spoken = make('span', 'sv-spoken', '', { role: 'status' });

  constructor(menu) {
    this.#menu = menu;
    const head = wrap('div', 'sv-editor-head', make('h2', '', t('editor.title')), this.#targetPicker());
    const foot = wrap('div', 'sv-editor-foot', this.#add, this.#count, this.#spoken);
    this.elements = [head, this.#list, foot];
  }

  /** Whether a row is one of those that are shown. */
  has(row) {
    return this.#rows.includes(row);
  }

  /** Show these lanes. */
  draw(target, lanes) {
    this.#fillPicker();
    this.#select.value = target;
    this.#pair = this.#menu.pairs.find((pair) => pair.target === target);
    this.#rows = lanes.map((lane) => new LaneRow(lane, this.#pair, this.#menu, this.#acts()));
    this.#list.replaceChildren(alone(), ...this.#rows.map((row) => row.element));
    this.#number();
  }

  /** Choose the target, where a page offers several; the lanes follow it. */
  #targetPicker() {
    this.#select.addEventListener('change', () => apply({ target: this.#select.value }));
    return this.#picker;
  }

  #fillPicker() {
    const { pairs } = this.#menu;
    const options = (isHub) => pairs.filter((pair) => pair.is_hub === isHub).map(({ target }) => make('option', '', target));
    const ofHub = make('optgroup', '', '', { label: t('hub.title') });
    ofHub.append(...options(true));
    this.#select.replaceChildren(...options(false), ...(ofHub.children.length ? [ofHub] : []));
    this.#picker.hidden = pairs.length < 2;
  }

  #lanes() {
    return this.#rows.map((row) => row.lane);
  }

  #acts() {
    return {
      edit: (row) => apply({ lanes: this.#lanes() }, row),
      duplicate: (row) => this.#insert(this.#rows.indexOf(row) + 1, { ...row.lane, name: undefined }),
      remove: (row) => this.#remove(this.#rows.indexOf(row)),
    };
  }

  #insert(index, lane) {
    apply({ lanes: this.#lanes().toSpliced(index, 0, lane) });
    this.#rows[index].focus();
    setText(this.#spoken, t('editor.added', { number: index + 1 }));
  }

  #remove(index) {
    apply({ lanes: this.#lanes().toSpliced(index, 1) });
    this.#rows[Math.min(index, this.#rows.length - 1)].focus();
    setText(this.#spoken, t('editor.removed', { number: index + 1 }));
  }

  /** A lane to add: by a method that no lane has yet, if there is one. */
  #another() {
    const used = this.#rows.map((row) => row.lane.method);
    const { methods } = this.#pair;
    return { method: methods.find((method) => !used.includes(method)) ?? methods[0] };
  }

  #number() {
    const [n, most] = [this.#rows.length, this.#menu.max_drafting_lanes];
    const isFull = n >= most;
    this.#rows.forEach((row, index) => row.number(index + 1, { isOnly: n === 1, isFull }));
    setEnabled(this.#add, !isFull);
    setText(this.#count, t('editor.count', { n, most }));
  }
}

/** Radio buttons of one lane share a name that no other lane has. */
let numRows = 0;

/** One lane that drafts: its method, what that takes, and γ. */
class LaneRow {
  #pair;
  #menu;
  #acts;
  /** All that was ever chosen here, so that going back to a method finds its choices again. */
  #chosen;
  #radios;
  #legend = make('legend', 'sv-spoken');
  /** The same for the eye, where the lanes stand below one another on a phone. */
  #name = make('b', 'sv-editor-name', '', { 'aria-hidden': 'true' });
  #detail = make('div', 'sv-editor-detail');
  // The styles draw the signs of these two: fonts differ in them.
  #duplicate = makeButton('', () => this.#acts.duplicate(this), 'sv-editor-tool is-duplicate');
  #remove = makeButton('', () => this.#acts.remove(this), 'sv-editor-tool is-remove');

  /** `acts` are done as the visitor acts: edit(row), duplicate(row), remove(row). */
  constructor(lane, pair, menu, acts) {
    this.#pair = pair;
    this.#menu = menu;
    this.#acts = acts;
    this.#chosen = { ...lane };
    const methods = this.#methods();
    const top = wrap('div', 'sv-editor-top', dot(), this.#name, methods, this.#duplicate, this.#remove);
    const bottom = wrap('div', 'sv-editor-bottom', this.#detail, ...this.#gammaField());
    this.element = wrap('li', 'sv-editor-lane', wrap('fieldset', 'sv-editor-group', this.#legend, top, bottom));
    this.#drawDetail();
  }

  /** The lane as it is set now. */
  get lane() {
    return fitLanes([this.#chosen], this.#pair.target, this.#menu).lanes[0];
  }

  /** Say which lane this is, and whether it may go or be doubled. */
  number(number, { isOnly, isFull }) {
    for (const element of [this.#legend, this.#name]) setText(element, t('editor.lane', { number }));
    nameButton(this.#duplicate, t('editor.duplicate', { number }));
    nameButton(this.#remove, t('editor.remove', { number }));
    setEnabled(this.#duplicate, !isFull);
    setEnabled(this.#remove, !isOnly);
  }

  focus() {
    this.#radios.find((radio) => radio.checked).focus();
  }

  #set(part) {
    Object.assign(this.#chosen, part);
    // A name that a lesson gave says what ran before.
    delete this.#chosen.name;
    this.#acts.edit(this);
  }

  #methods() {
    numRows += 1;
    const { method: chosen } = this.lane;
    this.#radios = this.#pair.methods.map((method) => {
      const radio = make('input', '', '', { type: 'radio', name: `sv-method-${numRows}`, value: method });
      radio.checked = method === chosen;
      radio.addEventListener('change', () => {
        this.#set({ method });
        this.#drawDetail();
      });
      return radio;
    });
    const group = make('div', 'sv-editor-methods', '', { role: 'radiogroup', 'aria-label': t('editor.method') });
    for (const radio of this.#radios) {
      const name = make('span', '', t(`editor.${keyOf(radio.value)}`));
      group.append(wrap('label', 'sv-editor-method', radio, name));
    }
    return group;
  }

  /** What the chosen method takes besides γ. */
  #drawDetail() {
    const { method } = this.lane;
    const { drafts, exits } = this.#pair;
    this.#detail.replaceChildren();
    if (method === 'draft-model') this.#detail.append(this.#choice('draft', drafts));
    if (method === 'early-exit' && exits.length) this.#detail.append(this.#choice('exit_layer', exits));
    if (method === 'prompt-lookup') this.#detail.append(field('max_ngram', this.#numberInput('max_ngram')));
  }

  #choice(name, values) {
    const select = make('select');
    select.append(...values.map((value) => make('option', '', translate(value))));
    select.selectedIndex = values.indexOf(this.lane[name]);
    select.addEventListener('change', () => this.#set({ [name]: values[select.selectedIndex] }));
    return field(name, select);
  }

  /** A number with its slider. */
  #gammaField() {
    const [min, max, step] = this.#menu.spans.gamma;
    const name = { 'aria-label': t('editor.gamma') };
    const slider = make('input', 'sv-editor-slider', '', { type: 'range', min, max, step, ...name });
    const slide = (value) => {
      slider.value = value;
      slider.style.setProperty('--sv-share', String((Number(slider.value) - min) / (max - min)));
    };
    const number = this.#numberInput('gamma', slide);
    slide(this.lane.gamma);
    slider.addEventListener('input', () => {
      slide(slider.value);
      number.value = slider.value;
      this.#set({ gamma: Number(slider.value) });
    });
    return [field('gamma', number), slider];
  }

  /**
   * A number; what is beyond its limits becomes the nearest that is allowed.
   * @param {string} name
   * @param {(value: string) => void} follow
   */
  #numberInput(name, follow = () => {}) {
    const [min, max, step] = this.#menu.spans[name];
    const input = make('input', '', '', { type: 'number', min, max, step, inputmode: 'numeric' });
    input.value = this.lane[name];
    input.addEventListener('change', () => {
      const asked = input.value === '' ? this.lane[name] : Math.round(Number(input.value));
      input.value = Math.min(max, Math.max(min, asked));
      follow(input.value);
      this.#set({ [name]: Number(input.value) });
    });
    return input;
  }
}

/** The first entry: it cannot be changed, since everything is measured against it. */
function alone() {
  const texts = [make('b', '', t('lane.baseline')), make('span', '', t('editor.alone'))];
  return wrap('li', 'sv-editor-lane is-alone', dot(), ...texts);
}

function dot() {
  return make('i', 'sv-lane-dot', '', { 'aria-hidden': 'true' });
}

function field(name, control) {
  return wrap('label', 'sv-editor-field', make('span', '', t(`editor.${name}`)), control);
}

function nameButton(button, name) {
  button.title = name;
  button.setAttribute('aria-label', name);
}

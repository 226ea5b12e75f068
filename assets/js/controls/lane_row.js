// One lane that drafts, as it is set: its method, what that takes, γ, its tree, and behind "Break it" a wrong rule.
import { briefName, keyOf } from '../model/names.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t, translate } from '../page/strings.js';
import { HeadDoctor } from './head_doctor.js';
import { RuleChoice } from './rule_choice.js';
import { fitLanes, schedulesOf } from './store.js';
import { TreeChoice } from './tree_choice.js';

/** Radio buttons of one lane share a name that no other lane has. */
let numRows = 0;

/** One lane that drafts: its method, what that takes, γ, and whether its guesses are a tree. */
export class LaneRow {
  #pair;
  #menu;
  #acts;
  /** All that was ever chosen here, so that going back to a method finds its choices again. */
  #chosen;
  #radios;
  /** @type {RuleChoice | null} */
  #rules = null;
  #legend = make('legend', 'sv-spoken');
  /** The same for the eye, where the lanes stand below one another on a phone. */
  #name = make('b', 'sv-editor-name', '', { 'aria-hidden': 'true' });
  #detail = make('div', 'sv-editor-detail');
  /** What is to be known of the draft that is chosen. */
  #note = make('p', 'sv-editor-note');
  /** What the chosen method has to say at more length. */
  #below = make('div', 'sv-editor-below');
  #schedule = make('select');
  #scheduleField = wrap('label', 'sv-editor-field', make('span', 'sv-spoken', t('schedule.label')), this.#schedule);
  /** What γ is called: the length of a chain, or the depth of a tree. */
  #gammaName = make('span');
  #slider = make('input', 'sv-editor-slider', '', { type: 'range' });
  /** @type {TreeChoice} */
  #tree;
  /** Where a draft ends by its own doubt, how sure it must be. */
  #confidence = make('div', 'sv-editor-detail');
  // The styles draw the signs of these two: fonts differ in them.
  #duplicate = makeButton('', () => this.#acts.duplicate(this), 'sv-editor-tool is-duplicate');
  #remove = makeButton('', () => this.#acts.remove(this), 'sv-editor-tool is-remove');

  /**
   * `acts` are done as the visitor acts: edit(row), and where lanes come and go duplicate(row) and
   * remove(row); a lane that stands alone has neither, and its rule is chosen elsewhere.
   */
  constructor(lane, pair, menu, acts) {
    this.#pair = pair;
    this.#menu = menu;
    this.#acts = acts;
    this.#chosen = { ...lane };
    const methods = this.#methods();
    const isOneOfMany = acts.remove !== undefined;
    const tools = isOneOfMany ? [this.#duplicate, this.#remove] : [];
    const top = wrap('div', 'sv-editor-top', dot(), this.#name, methods, ...tools);
    this.#tree = new TreeChoice(menu, (tree) => this.#reshape({ tree }), (name) => field(name, this.#numberInput(name)));
    const numbers = [this.#gammaField(), this.#confidence, this.#slider, this.#tree.sizes];
    const bottom = wrap('div', 'sv-editor-bottom', this.#detail, ...numbers);
    if (isOneOfMany) this.#rules = new RuleChoice(this.lane, menu, (rule) => this.#reshape({ rule }));
    const parts = [top, bottom, this.#note, this.#below, ...(this.#rules ? [this.#rules.element] : [])];
    this.element = wrap('li', 'sv-editor-lane', wrap('fieldset', 'sv-editor-group', this.#legend, ...parts));
    this.#drawDetail();
    this.#drawShape();
    this.#drawNote();
    this.#markRule();
  }

  /** The lane as it is set now. */
  get lane() {
    return fitLanes([this.#chosen], this.#pair.target, this.#menu).lanes[0];
  }

  /** Say which lane this is, and whether it may go or be doubled. */
  number(number, { isOnly, isFull }) {
    this.name(t('editor.lane', { number }));
    nameButton(this.#duplicate, t('editor.duplicate', { number }));
    nameButton(this.#remove, t('editor.remove', { number }));
    setEnabled(this.#duplicate, !isFull);
    setEnabled(this.#remove, !isOnly);
  }

  /** Say what the lane is called here. */
  name(text) {
    for (const element of [this.#legend, this.#name]) setText(element, text);
  }

  focus() {
    this.#radios.find((radio) => radio.checked).focus();
  }

  #set(part) {
    Object.assign(this.#chosen, part);
    // A name that a lesson gave says what ran before.
    delete this.#chosen.name;
    // Another lane has other coins.
    delete this.#chosen.flipped_coins;
    this.#markRule();
    this.#drawNote();
    this.#acts.edit(this);
  }

  /** Take a choice that others depend on. */
  #reshape(part) {
    this.#set(part);
    this.#drawShape();
  }

  /** A lane that is broken on purpose is seen to be. */
  #markRule() {
    this.element.classList.toggle('is-broken', this.lane.rule !== undefined);
    this.#rules?.show(this.lane);
  }

  #methods() {
    numRows += 1;
    const { method: chosen } = this.lane;
    this.#radios = this.#pair.methods.map((method) => {
      const radio = make('input', '', '', { type: 'radio', name: `sv-method-${numRows}`, value: method });
      radio.checked = method === chosen;
      radio.addEventListener('change', () => {
        this.#reshape({ method });
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
    const { drafts, exits, heads, target } = this.#pair;
    this.#detail.replaceChildren();
    if (method === 'draft-model') this.#detail.append(this.#choice('draft', drafts));
    if (method === 'early-exit' && exits.length) this.#detail.append(this.#choice('exit_layer', exits));
    if (method === 'prompt-lookup') this.#detail.append(field('max_ngram', this.#numberInput('max_ngram')));
    const doctor = method === 'eagle3' ? new HeadDoctor(target, () => this.lane.head) : null;
    if (doctor) this.#detail.append(this.#choice('head', heads, () => doctor.show()));
    this.#below.replaceChildren(...(doctor ? [doctor.element] : []));
  }

  /** Say so where the draft has another tokenizer than the target. */
  #drawNote() {
    const { method, draft } = this.lane;
    const isTranslated = method === 'draft-model' && this.#pair.translated.includes(draft);
    setText(this.#note, isTranslated ? t('editor.other_tokenizer') : '');
    this.#note.hidden = !isTranslated;
  }

  /**
   * A choice of some values.
   * @param {string} name
   * @param {any[]} values
   */
  #choice(name, values, follow = () => {}) {
    const select = make('select');
    const write = name === 'head' ? briefName : translate;
    select.append(...values.map((value) => make('option', '', write(value))));
    select.selectedIndex = values.indexOf(this.lane[name]);
    select.addEventListener('change', () => {
      this.#set({ [name]: values[select.selectedIndex] });
      follow();
    });
    return field(name, select);
  }

  /** γ and how it is chosen, and what shape the guesses have; its slider follows all of it. */
  #gammaField() {
    const [min, max, step] = this.#menu.spans.gamma;
    const slider = this.#slider;
    Object.assign(slider, { min, max, step });
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
    this.#schedule.addEventListener('change', () => {
      this.#set({ schedule: this.#schedule.value });
      this.#drawSchedule();
    });
    const gamma = wrap('label', 'sv-editor-field', this.#gammaName, number);
    return wrap('div', 'sv-editor-gamma', gamma, this.#scheduleField, this.#tree.element);
  }

  /** Chain or tree; a tree grows to one depth, which nothing else chooses. */
  #drawShape() {
    const { lane } = this;
    const isTree = lane.tree !== undefined;
    this.#tree.show(lane);
    this.#scheduleField.hidden = isTree;
    const name = t(isTree ? 'editor.depth' : 'editor.gamma');
    setText(this.#gammaName, name);
    this.#slider.setAttribute('aria-label', name);
    this.#drawSchedule();
  }

  /** How γ is chosen, and what that takes. */
  #drawSchedule() {
    const { method, schedule = 'fixed' } = this.lane;
    const options = schedulesOf(method, this.#menu).map((value) =>
      make('option', '', t(`schedule.${value}`), { value, title: t(`schedule.${value}_about`) }),
    );
    this.#schedule.replaceChildren(...options);
    this.#schedule.value = schedule;
    this.#schedule.title = t(`schedule.${schedule}_about`);
    const isConfidence = schedule === 'confidence';
    this.#confidence.replaceChildren(...(isConfidence ? [field('confidence', this.#numberInput('confidence'))] : []));
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
      const round = Number.isInteger(step) ? Math.round : Number;
      const asked = input.value === '' ? this.lane[name] : round(Number(input.value));
      input.value = Math.min(max, Math.max(min, asked));
      follow(input.value);
      this.#set({ [name]: Number(input.value) });
    });
    return input;
  }
}

/** The colour of a lane. */
export function dot() {
  return make('i', 'sv-lane-dot', '', { 'aria-hidden': 'true' });
}

/** A control with its name before it. */
export function field(name, control) {
  return wrap('label', 'sv-editor-field', make('span', '', t(`editor.${name}`)), control);
}

function nameButton(button, name) {
  button.title = name;
  button.setAttribute('aria-label', name);
}

// What a proof is asked for: the text and with it the place, the lane, the temperature, the draws, the rule.
import { keyOf } from '../model/names.js';
import { LaneRow } from '../controls/lane_row.js';
import { onOffer, pairOf, shareMenu } from '../controls/menu.js';
import { current, onChange } from '../controls/settings.js';
import { fitLanes, rulesOf } from '../controls/store.js';
import { make, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';

const RIGHT = 'right';

/** The form; `value` is what the server takes, unchecked. */
export class ProofForm {
  #menu;
  #examples;
  #target = null;
  #rule = RIGHT;
  /** @type {LaneRow | null} */
  #row = null;
  #lane = { method: undefined };
  #picker = make('select');
  #text = make('textarea', '', '', { rows: 4, 'aria-label': t('proof.text') });
  #lanes = make('ol', 'sv-editor-list');
  #about = make('p', 'sv-proof-note');
  #rules = make('div', 'sv-proof-rules', '', { role: 'radiogroup', 'aria-label': t('rule.choose') });
  #numbers;

  constructor({ examples, menu, samples }) {
    this.#menu = shareMenu(menu);
    this.#examples = examples;
    const [low, high, step] = menu.spans.temperature;
    this.#numbers = {
      temperature: number(1, low, high, step),
      samples: number(samples.usual, samples.least, samples.most, 100),
      seed: number(0, 0, menu.spans.seed[1], 1),
    };
    const numbers = Object.entries(this.#numbers).map(([name, input]) => labelled(`proof.${name}`, input));
    this.element = wrap(
      'div',
      'sv-proof-form',
      this.#place(menu.max_prompt_chars),
      this.#lanes,
      wrap('div', 'sv-proof-numbers', ...numbers),
      this.#about,
      wrap('div', 'sv-proof-rule', make('h3', '', t('rule.choose')), this.#rules),
    );
    this.#numbers.temperature.addEventListener('input', () => this.#tellKind());
    this.#tellKind();
    onChange(({ target }) => this.#follow(target));
    onOffer(() => this.#draw());
  }

  /** The form as it stands. */
  get value() {
    const { temperature, samples, seed } = this.#numbers;
    return {
      prompt: this.#text.value,
      lane: { ...this.#lane, target: this.#target, rule: this.#rule },
      sampling: { temperature: temperature.valueAsNumber, seed: seed.valueAsNumber },
      samples: samples.valueAsNumber,
      uses_chat: current().chat ?? true,
    };
  }

  /** The text, and the examples that it can be; the place is where it ends. */
  #place(longest) {
    this.#text.setAttribute('maxlength', String(longest));
    const own = make('option', '', t('proof.own'), { value: '' });
    this.#picker.append(...this.#examples.map(({ id }) => make('option', '', t(`prompt.${id}`), { value: id })), own);
    this.#picker.addEventListener('change', () => {
      const chosen = this.#examples.find(({ id }) => id === this.#picker.value);
      this.#text.value = chosen?.prompt ?? '';
      if (!chosen) this.#text.focus();
    });
    this.#text.addEventListener('input', () => {
      this.#picker.value = this.#examples.find(({ prompt }) => prompt === this.#text.value)?.id ?? '';
    });
    this.#text.value = this.#examples[0].prompt;
    const hint = make('p', 'sv-proof-note', t('proof.text_about'));
    return wrap('div', 'sv-proof-place', labelled('proof.example', this.#picker), this.#text, hint);
  }

  /** Another target was chosen for the page. */
  #follow(target) {
    if (!target || target === this.#target) return;
    this.#target = target;
    this.#draw();
  }

  #draw() {
    if (!this.#target) return;
    this.#fit(this.#lane);
    this.#row = new LaneRow(this.#lane, pairOf(this.#target), this.#menu, {
      edit: (row) => {
        this.#fit(row.lane);
        this.#drawRules();
      },
    });
    this.#row.name(t('proof.lane'));
    this.#lanes.replaceChildren(this.#row.element);
    this.#drawRules();
  }

  #fit(lane) {
    [this.#lane] = fitLanes([{ ...lane, rule: undefined }], this.#target, this.#menu).lanes;
  }

  #drawRules() {
    const rules = rulesOf(this.#lane.method, this.#menu);
    if (!rules.includes(this.#rule)) this.#rule = RIGHT;
    const before = this.#rules.contains(document.activeElement);
    const options = rules.map((rule) => this.#option(rule));
    this.#rules.replaceChildren(...options.map(({ label }) => label));
    if (before) options.find(({ radio }) => radio.checked)?.radio.focus();
  }

  #option(rule) {
    const radio = make('input', '', '', { type: 'radio', name: 'sv-proof-rule', value: rule });
    radio.checked = rule === this.#rule;
    radio.addEventListener('change', () => {
      this.#rule = rule;
    });
    const words = wrap('span', '', make('b', '', t(`rule.${keyOf(rule)}`)), make('small', '', t(`rule.${keyOf(rule)}_about`)));
    const label = wrap('label', `sv-proof-option${rule === RIGHT ? '' : ' is-broken'}`, radio, words);
    return { label, radio };
  }

  /** At temperature 0 there is nothing to draw: whole texts are compared instead. */
  #tellKind() {
    const isGreedy = this.#numbers.temperature.valueAsNumber === 0;
    setText(this.#about, t(isGreedy ? 'proof.about_greedy' : 'proof.about_sampled'));
    this.#numbers.samples.disabled = isGreedy;
  }
}

function number(value, min, max, step) {
  const input = make('input', '', '', { type: 'number', min, max, step, inputmode: 'decimal' });
  input.value = String(value);
  return input;
}

function labelled(id, control) {
  return wrap('label', 'sv-editor-field', make('span', '', t(id)), control);
}

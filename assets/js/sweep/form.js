// What a sweep is asked for: ways to guess, draft lengths, prompts, minutes.
import { pairOf } from '../controls/menu.js';
import { current, onChange } from '../controls/settings.js';
import { make, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { choicesOf, within } from './choices.js';

const SUITES = ['gallery', 'lines', 'file'];

/** The form; `onEdit()` is called when something in it changed. */
export class SweepForm {
  #data;
  #onEdit;
  #target = null;
  #choices = [];
  #boxes = make('div', 'sv-sweep-lanes');
  #low;
  #high;
  #temperature;
  #tokens;
  #minutes;
  #suites = [];
  #lines = make('textarea', 'sv-sweep-lines', '', { rows: '3', 'aria-label': t('sweep_page.lines') });
  #file = make('input', '', '', { type: 'file', accept: '.jsonl,.txt', 'aria-label': t('sweep_page.file') });
  #fileText = { name: '', text: '' };
  /** Settings of an address whose target is not on the menu yet. */
  #wished = null;

  constructor(data, onEdit) {
    this.#data = data;
    this.#onEdit = onEdit;
    const { most, first } = data;
    this.#low = number(1, most.gamma, 1, first.gammas[0], t('sweep_page.gamma_low'));
    this.#high = number(1, most.gamma, 1, first.gammas[1], t('sweep_page.gamma_high'));
    this.#temperature = number(0, most.temperature, 0.1, first.temperature);
    this.#tokens = number(8, most.tokens, 8, first.tokens);
    this.#minutes = number(0.5, most.minutes, 0.5, first.minutes);
    const legend = make('legend', '', t('sweep_page.lanes'));
    const lanes = wrap('fieldset', 'sv-plain-field', legend, this.#boxes);
    this.#lines.placeholder = t('sweep_page.lines_hint');
    this.element = wrap('div', 'sv-sweep-form', lanes, this.#numbers(), ...this.#prompts());
    this.element.addEventListener('input', onEdit);
    this.#file.addEventListener('change', () => this.#readFile());
    onChange(() => this.#follow());
  }

  /** All that is asked for, as the server takes it. */
  get values() {
    const { first, most } = this.#data;
    const low = Math.round(within(this.#low.value, 1, most.gamma, first.gammas[0]));
    const high = Math.round(within(this.#high.value, 1, most.gamma, first.gammas[1]));
    const suite = this.#suites.find((input) => input.checked)?.value ?? SUITES[0];
    const own = { lines: { text: this.#lines.value }, file: this.#fileText }[suite] ?? {};
    return {
      target: this.#target,
      lanes: this.#choices.filter(({ box }) => box.checked).map(({ lane }) => lane),
      gammas: [Math.min(low, high), Math.max(low, high)],
      temperature: within(this.#temperature.value, 0, most.temperature, first.temperature),
      tokens: Math.round(within(this.#tokens.value, 8, most.tokens, first.tokens)),
      minutes: this.minutes,
      suite,
      ...own,
    };
  }

  get minutes() {
    return within(this.#minutes.value, 0.1, this.#data.most.minutes, this.#data.first.minutes);
  }

  /** Take settings that an address asks for; what they leave out stays. */
  wish(settings) {
    this.#wished = settings;
    const fields = { temperature: this.#temperature, tokens: this.#tokens, minutes: this.#minutes };
    for (const [name, field] of Object.entries(fields)) {
      if (Number.isFinite(settings[name])) field.value = settings[name];
    }
    if (settings.gammas) [this.#low.value, this.#high.value] = settings.gammas.map(String);
    if (settings.suite === 'lines' && this.#data.takes_own) {
      this.#lines.value = settings.text;
      this.#choose('lines');
    }
    this.#target = null;
    this.#follow();
  }

  /** The lanes are those of the form's target: the one that the race's form has, or an address named. */
  #follow() {
    const wished = this.#wished?.target;
    const target = wished && pairOf(wished) ? wished : current().target;
    const pair = target && pairOf(target);
    if (!pair || (target === this.#target && this.#choices.length)) return;
    this.#target = target;
    const chosen = this.#wished?.lanes;
    this.#choices = choicesOf(pair).map((choice) => {
      const box = make('input', '', '', { type: 'checkbox' });
      box.checked = chosen ? chosen.includes(choice.key) : choice.atFirst;
      return { ...choice, box };
    });
    this.#wished = null;
    const labels = this.#choices.map(({ box, name }) => wrap('label', 'sv-sweep-lane', box, make('span', '', name)));
    this.#boxes.replaceChildren(...labels);
    this.#onEdit();
  }

  #numbers() {
    const { minutes } = this.#data.most;
    const gammas = wrap('span', 'sv-sweep-range', this.#low, make('span', '', '–'), this.#high);
    const row = wrap('div', 'sv-sweep-numbers', wrap('div', 'sv-sweep-field', make('span', '', t('sweep_page.gammas')), gammas));
    const fields = { temperature: this.#temperature, tokens: this.#tokens, minutes: this.#minutes };
    for (const [name, field] of Object.entries(fields)) {
      row.append(wrap('label', 'sv-sweep-field', make('span', '', t(`sweep_page.ask_${name}`, { n: minutes })), field));
    }
    return row;
  }

  #prompts() {
    if (!this.#data.takes_own) return [make('p', 'sv-facts', t('sweep_page.gallery_only'))];
    const segments = SUITES.map((value) => {
      const input = make('input', '', '', { type: 'radio', name: 'sv-sweep-suite', value });
      input.addEventListener('change', () => this.#choose(value));
      this.#suites.push(input);
      return wrap('label', 'sv-segment', input, make('span', '', t(`sweep_page.suite_${value}`)));
    });
    const legend = make('legend', '', t('sweep_page.suite'));
    const choice = wrap('fieldset', 'sv-plain-field', legend, wrap('div', 'sv-segments', ...segments));
    this.#choose(SUITES[0]);
    return [choice, this.#lines, this.#file];
  }

  #choose(suite) {
    for (const input of this.#suites) input.checked = input.value === suite;
    this.#lines.hidden = suite !== 'lines';
    this.#file.hidden = suite !== 'file';
  }

  async #readFile() {
    const [file] = this.#file.files;
    this.#fileText = file ? { name: file.name, text: await file.text() } : { name: '', text: '' };
    this.#onEdit();
  }
}

function number(low, high, step, value, label = '') {
  const attributes = { type: 'number', min: low, max: high, step, value, ...(label && { 'aria-label': label }) };
  return make('input', 'sv-sweep-number', '', attributes);
}

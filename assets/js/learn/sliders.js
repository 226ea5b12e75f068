// Labelled sliders, each with its number.
import { make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** The labelled sliders of a lab, each with its number as its `format` writes it. */
export class Sliders {
  #sliders = {};

  /** `spans` give each slider `min`, `max`, `step` and, unless two decimals do, `format`. */
  constructor(lab, spans, listener) {
    this.element = make('div', 'sv-sliders');
    for (const [name, { format = (value) => decimals(value, 2), ...span }] of Object.entries(spans)) {
      const input = make('input', '', '', { type: 'range', ...span });
      const shown = make('span', 'sv-slider-value', '', { 'aria-hidden': 'true' });
      const head = wrap('span', 'sv-slider-head', make('span', '', t(`learn.${lab}_${name}`)), shown);
      this.element.append(wrap('label', 'sv-slider', head, input));
      this.#sliders[name] = { input, shown, format };
      input.addEventListener('input', () => {
        this.#show(name);
        listener();
      });
    }
  }

  /** The numbers by name. */
  get values() {
    const pairs = Object.entries(this.#sliders).map(([name, { input }]) => [name, Number(input.value)]);
    return Object.fromEntries(pairs);
  }

  /** Move sliders, and their ends where a number lies beyond: a measured number is shown as it is. */
  set(values) {
    for (const [name, value] of Object.entries(values)) {
      const { input } = this.#sliders[name];
      if (value > Number(input.max)) input.max = Math.ceil(value);
      if (value < Number(input.min)) input.min = Math.floor(value);
      input.value = value;
      this.#show(name);
    }
  }

  /** Change the highest number of a slider. */
  setMax(name, max) {
    this.#sliders[name].input.max = max;
    this.#show(name);
  }

  #show(name) {
    const { input, shown, format } = this.#sliders[name];
    const text = format(Number(input.value));
    setText(shown, text);
    input.setAttribute('aria-valuetext', text);
    const { min, max, value } = input;
    input.style.setProperty('--sv-share', String((value - min) / (max - min || 1)));
  }
}

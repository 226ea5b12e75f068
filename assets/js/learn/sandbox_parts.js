// What the labs of the tab Learn are made of: their frame, buttons, and sliders with a number.
import { make, setText } from '../core/dom.js';
import { t } from '../core/strings.js';

/** The frame of a lab with its title and its one or two sentences. */
export function makeLab(name) {
  const lab = make('section', `sv-lab sv-lab-${name}`, '', { 'aria-labelledby': `sv-lab-${name}` });
  lab.append(
    make('h3', '', t(`learn.${name}_title`), { id: `sv-lab-${name}` }),
    make('p', 'sv-lab-text', t(`learn.${name}_text`)),
  );
  return lab;
}

/** A button with its text. */
export function makeButton(text, act, className = '') {
  const button = make('button', `sv-button ${className}`.trim(), text, { type: 'button' });
  button.addEventListener('click', act);
  return button;
}

/** A number with two digits after the point. */
export function twoDigits(value) {
  return value.toFixed(2);
}

/** A labelled slider that shows its number as `format` writes it. */
export class Slider {
  #input;
  #shown;
  #format;

  constructor(text, { min, max, step, format = String }, listener) {
    this.#format = format;
    this.element = make('label', 'sv-slider');
    this.#input = make('input', '', '', { type: 'range', min, max, step });
    this.#shown = make('span', 'sv-slider-value', '', { 'aria-hidden': 'true' });
    const head = make('span', 'sv-slider-head');
    head.append(make('span', '', text), this.#shown);
    this.element.append(head, this.#input);
    this.#input.addEventListener('input', () => {
      this.#show();
      listener();
    });
  }

  get value() {
    return Number(this.#input.value);
  }

  /** Move the slider, and its end where the number lies beyond it. */
  set(value) {
    if (value > Number(this.#input.max)) this.#input.max = Math.ceil(value);
    this.#input.value = value;
    this.#show();
  }

  /** Change the highest number. */
  setMax(max) {
    this.#input.max = max;
    this.#show();
  }

  #show() {
    const text = this.#format(this.value);
    setText(this.#shown, text);
    this.#input.setAttribute('aria-valuetext', text);
    const { min, max } = this.#input;
    this.#input.style.setProperty('--sv-share', (this.value - min) / (max - min || 1));
  }
}

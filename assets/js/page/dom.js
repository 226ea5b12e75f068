// Makes elements. Text goes in as text, never as markup: prompts and tokens come from strangers.

/** Make an element with a class, text and attributes. */
export function make(tag, className = '', text = '', attributes = {}) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Set text only where it changed, so that nothing is laid out again without need. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** White space a reader can see, for places where one token stands alone. */
export function visible(text) {
  return text.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\t', '⇥') || '∅';
}

/** Whether the visitor asked for less motion. */
export function isMotionReduced() {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Make a button of the page that does `act` when it is pressed. */
export function makeButton(text, act, className = 'sv-button', attributes = {}) {
  const button = make('button', className, text, { type: 'button', ...attributes });
  button.addEventListener('click', act);
  return button;
}

/** Children inside a parent that is made for them. */
export function wrap(tag, className, ...children) {
  const element = make(tag, className);
  element.append(...children);
  return element;
}

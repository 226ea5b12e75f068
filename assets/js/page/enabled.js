// Switches buttons on and off without taking the keyboard's place away.

const OFF = 'aria-disabled';
let isGuarding = false;

/**
 * Switch a button on or off. One that is focused when it is switched off keeps the focus until it is
 * left, and does nothing meanwhile: a disabled button would drop the focus to the page's start.
 */
export function setEnabled(button, isEnabled) {
  const keepsFocus = !isEnabled && document.activeElement === button;
  const isDisabled = !isEnabled && !keepsFocus;
  if (button.disabled !== isDisabled) button.disabled = isDisabled;
  if (!keepsFocus) return button.removeAttribute(OFF);
  guard();
  if (button.hasAttribute(OFF)) return;
  button.setAttribute(OFF, 'true');
  button.addEventListener('blur', () => setEnabled(button, !button.hasAttribute(OFF)), { once: true });
}

/** What is switched off hears of no click. */
function guard() {
  if (isGuarding) return;
  isGuarding = true;
  const stop = (event) => {
    if (!event.target.closest(`[${OFF}="true"]`)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener('click', stop, true);
}

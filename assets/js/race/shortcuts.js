// Keys for the race where no field is focused, and the small help that lists them.
import { make } from '../page/dom.js';
import { t } from '../page/strings.js';

/** What takes the keys itself while it is focused. */
const FIELDS = 'input, textarea, select, [contenteditable], [role=tab], [tabindex="0"]';
const PRESSED_BY_SPACE = 'button:not([aria-disabled="true"]), a, summary';

/** Let keys steer the race of the strip in `container` while it is on the open tab. */
export function listenForKeys(container, transport) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element} */ (event.target);
    if (target.closest(FIELDS) || !container.checkVisibility()) return;
    if (event.key === ' ' && target.closest(PRESSED_BY_SPACE)) return;
    if (act(event.key, transport)) event.preventDefault();
  });
}

function act(key, transport) {
  if (key === 's' && transport.canStop()) transport.stop();
  else if (!transport.canHold()) return false;
  else if (key === ' ') transport.toggle();
  else if (key === 'ArrowRight' || key === '.') transport.step();
  else return false;
  return true;
}

/** A button "?" and the list that it opens. */
export function helpOfKeys() {
  const opener = make('button', 'sv-button sv-keys', '?', {
    type: 'button',
    title: t('transport.keys'),
    'aria-label': t('transport.keys'),
    'aria-expanded': 'false',
  });
  const list = make('dl', 'sv-key-list', '', { hidden: '' });
  for (const name of ['hold', 'step', 'stop']) {
    list.append(make('dt', '', t(`transport.key_${name}`)), make('dd', '', t(`transport.does_${name}`)));
  }
  const setOpen = (isOpen) => {
    list.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
  };
  opener.addEventListener('click', () => setOpen(list.hidden));
  opener.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') setOpen(false);
  });
  return [opener, list];
}

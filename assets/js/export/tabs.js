// The tabs of an exported race: a list of buttons by the names that the page's scripts know them by.
import { make } from '../page/dom.js';
import { t } from '../page/strings.js';

const MOVES = { ArrowRight: 1, ArrowLeft: -1 };

/** Make tabs over the panels `sv-tab-NAME` that stand in the file; the first one is open. */
export function mountTabs(container, names) {
  const list = make('div', 'sv-file-tabs', '', { role: 'tablist', id: 'sv-tabs', 'aria-label': t('file.views') });
  const buttons = names.map((name) => {
    const id = `sv-tab-${name}`;
    const button = make('button', '', t(`tab.${name}`), { type: 'button', role: 'tab', id: `${id}-button`, 'aria-controls': id });
    const panel = document.getElementById(id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', button.id);
    button.addEventListener('click', () => open(name));
    return button;
  });
  const open = (name) => {
    names.forEach((each, index) => {
      const isChosen = each === name;
      document.getElementById(`sv-tab-${each}`).hidden = !isChosen;
      buttons[index].setAttribute('aria-selected', String(isChosen));
      buttons[index].tabIndex = isChosen ? 0 : -1;
    });
  };
  list.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    if (!move || event.defaultPrevented) return;
    const index = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const next = buttons[(index + move + buttons.length) % buttons.length];
    next.focus();
    next.click();
    event.preventDefault();
  });
  list.append(...buttons);
  container.append(list);
  open(names[0]);
}

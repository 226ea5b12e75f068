// Tells a visitor who looks at another tab that the own race has got its turn, and leads there.
import { make, makeButton, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { openTab } from '../page/tabs.js';

const SHOWN_MS = 12_000;

/** Say over the open tab that the race of a panel has begun. */
export function noticeTurn(name) {
  const close = () => notice.remove();
  const go = () => {
    close();
    openTab(name);
  };
  const text = make('span', '', t('status.turn_elsewhere'));
  const notice = wrap('div', 'sv-view sv-turn-notice', text, makeButton(t('status.go_to_race'), go));
  notice.setAttribute('role', 'alert');
  document.querySelector('.gradio-container').append(notice);
  setTimeout(close, SHOWN_MS);
}

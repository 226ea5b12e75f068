// The head of the clock strip: its title, what the blocks mean, and how much of the race it shows.
import { KINDS } from './clock_painter.js';
import { make } from '../core/dom.js';
import { t } from '../core/strings.js';

/** Make the head; `onZoom(isWhole)` is called when a visitor chooses, the whole race comes first. */
export function clockHead(onZoom) {
  const head = make('header', 'sv-clock-head');
  head.append(make('h2', '', t('clock.title')), key(), zoom(onZoom));
  return head;
}

function key() {
  const list = make('ul', 'sv-clock-key');
  for (const kind of KINDS) {
    const entry = make('li', '', t(`clock.${kind}`));
    entry.dataset.kind = kind;
    list.append(entry);
  }
  return list;
}

function zoom(onZoom) {
  const group = make('div', 'sv-clock-zoom', '', { role: 'group', 'aria-label': t('clock.zoom') });
  const whole = make('button', 'sv-button', t('clock.whole'), { type: 'button' });
  const recent = make('button', 'sv-button', t('clock.recent'), { type: 'button' });
  const press = (isWhole) => {
    whole.setAttribute('aria-pressed', String(isWhole));
    recent.setAttribute('aria-pressed', String(!isWhole));
  };
  for (const button of [whole, recent]) {
    button.addEventListener('click', () => {
      press(button === whole);
      onZoom(button === whole);
    });
  }
  press(true);
  group.append(whole, recent);
  return group;
}

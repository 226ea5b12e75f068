// Title line and the switch between light and dark.
import { make, setText } from './dom.js';
import { onThemeChange } from './theme.js';

const KEY = 'specviz-theme';

/** Draw the head of the page; where races run is known better once one has started. */
export function mountHeader(place, data, stores) {
  const title = make('div', 'sv-title');
  title.append(
    make('h1', '', 'specviz'),
    make('p', '', 'Watch a small model guess ahead and a big model check the guesses.'),
  );
  const side = make('div', 'sv-side');
  const button = make('button', 'sv-button', '', { type: 'button' });
  const where = make('span', 'sv-place', data.place);
  const take = (items) => {
    const start = items.findLast((item) => item.k === 'start');
    if (start) setText(where, start.place);
  };
  for (const store of stores) store.subscribe(take);
  side.append(where, button);
  place.append(title, side);

  const show = () => {
    const isDark = document.body.classList.contains('dark');
    setText(button, isDark ? '☀ Light' : '☾ Dark');
    button.setAttribute('aria-label', isDark ? 'Switch to light' : 'Switch to dark');
  };
  button.addEventListener('click', () => {
    const isDark = document.body.classList.toggle('dark');
    remember(isDark ? 'dark' : 'light');
    show();
  });
  const before = remembered();
  if (before) document.body.classList.toggle('dark', before === 'dark');
  onThemeChange(show);
  show();
}

// A browser may forbid storage; the switch then holds for this visit only.
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    return;
  }
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

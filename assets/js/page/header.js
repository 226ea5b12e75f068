// Title line, and what is switched for the whole page: language, text size, light or dark.
import { aboutDevice, aboutForm } from '../model/names.js';
import { panels } from '../model/panels.js';
import { make, setText, wrap } from './dom.js';
import { remember, remembered } from './memory.js';
import { language } from './numbers.js';
import { chooseLanguage, t } from './strings.js';
import { onThemeChange } from './theme.js';

const THEME_KEY = 'specviz-theme';
const SIZE_KEY = 'specviz-size';

/** Draw the head of the page; where races run is known better once one has started. */
export function mountHeader(container, data) {
  const title = wrap('div', 'sv-title', make('h1', '', t('header.title')), make('p', '', t('header.tagline')));
  const device = make('span', 'sv-place', data.device);
  for (const { playback } of Object.values(panels)) {
    playback.follow(({ started }) => {
      if (!started) return;
      setText(device, aboutDevice(started.environment));
      device.title = aboutForm(started.environment);
    });
  }
  const side = wrap('div', 'sv-side', device, themeSwitch(), sizeSwitch());
  if (data.languages.length > 1) side.append(languageSelect(data.languages));
  container.append(title, side);
}

function themeSwitch() {
  const button = make('button', 'sv-button sv-theme', '', { type: 'button' });
  const show = () => {
    const other = document.body.classList.contains('dark') ? 'light' : 'dark';
    setText(button, t(`header.${other}`));
    button.setAttribute('aria-label', t(`header.to_${other}`));
  };
  button.addEventListener('click', () => {
    const isDark = document.body.classList.toggle('dark');
    remember(THEME_KEY, isDark ? 'dark' : 'light');
    show();
  });
  const before = remembered(THEME_KEY);
  const isAsked = new URLSearchParams(window.location.search).has('__theme');
  if (before && !isAsked) document.body.classList.toggle('dark', before === 'dark');
  onThemeChange(show);
  show();
  return button;
}

/** A larger text for a projector; `early.js` sets it before anything is drawn. */
function sizeSwitch() {
  const page = document.documentElement;
  const button = make('button', 'sv-button sv-size', '', {
    type: 'button',
    title: t('header.larger_text'),
    'aria-label': t('header.larger_text'),
  });
  button.append(make('small', '', 'A'), make('b', '', 'A'));
  const show = () => button.setAttribute('aria-pressed', String(page.classList.contains('sv-projector')));
  button.addEventListener('click', () => {
    const isLarge = page.classList.toggle('sv-projector');
    remember(SIZE_KEY, isLarge ? 'projector' : 'normal');
    show();
  });
  show();
  return button;
}

/** Every language is named in itself, so that its speakers find it. */
function languageSelect(languages) {
  const select = make('select', 'sv-language', '', { 'aria-label': t('header.language') });
  for (const each of languages) {
    const name = new Intl.DisplayNames([each], { type: 'language' }).of(each);
    const title = name[0].toLocaleUpperCase(each) + name.slice(1);
    select.append(make('option', '', title, { value: each, lang: each }));
  }
  select.value = language;
  select.addEventListener('change', () => chooseLanguage(select.value));
  return select;
}

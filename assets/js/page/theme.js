// The page's colours as it looks now, for what is drawn by more than style sheets.

/** Call `listener` whenever the page turns from light to dark or back, or its texts grow. */
export function onThemeChange(listener) {
  const observer = new MutationObserver(listener);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributeFilter: ['class'] });
  }
}

/** Colours by use; `lanes` has one for each lane, the target alone first. */
export function readTheme() {
  const style = getComputedStyle(document.querySelector('.sv-view'));
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    ink: read('--sv-ink'),
    soft: read('--sv-ink-soft'),
    grid: read('--sv-line'),
    surface: read('--sv-surface'),
    bar: read('--sv-bar-soft'),
    draft: read('--sv-draft'),
    verify: read('--sv-target'),
    other: read('--sv-discarded-ink'),
    lanes: [0, 1, 2, 3].map((lane) => read(`--sv-lane-${lane}`)),
    textScale: Number(read('--sv-text')) || 1,
    font: style.fontFamily,
  };
}

// Shows the page once its parts are drawn: until then each that comes would move those below it.

const MISSING = '.sv-view:not([data-drawn])';
/** A part that never comes keeps nobody waiting; the style sheet shows the page by itself later still. */
const PATIENCE_MS = 3000;
let timer = 0;

/** Note that a part is drawn; with the last one that is on the page, the page is shown. */
export function noteDrawn(container) {
  container.dataset.drawn = '';
  clearTimeout(timer);
  timer = setTimeout(show, document.querySelector(MISSING) ? PATIENCE_MS : 0);
}

function show() {
  document.documentElement.classList.add('sv-drawn');
}

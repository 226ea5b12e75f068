// Marks a page that is low for the size of its text: what is shown there is closer together.

/** A window lower than this, in the page's own text size, is short. */
const SHORT_REM = 50;

/** Keep the class `sv-short` of the page up with the window and the text size. */
export function watchRoom() {
  const page = document.documentElement;
  const look = () => {
    const rem = Number.parseFloat(getComputedStyle(page).fontSize);
    const isShort = window.innerHeight < SHORT_REM * rem;
    if (page.classList.contains('sv-short') !== isShort) page.classList.toggle('sv-short', isShort);
  };
  window.addEventListener('resize', look);
  new MutationObserver(look).observe(page, { attributeFilter: ['class'] });
  look();
}

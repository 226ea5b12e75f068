// Scrolls to a part of the page, and arrives there although parts above it grow on the way.

const ON_THE_WAY_MS = 5000;
/** Farther away than this somebody else has scrolled. */
const NEAR_PX = 150;
const OWN_SCROLLING = ['wheel', 'touchstart', 'keydown', 'pointerdown'];

/**
 * Bring the upper edge of an element to that of the window.
 * @param {Element} element
 * @param {ScrollBehavior} behavior
 */
export function scrollThere(element, behavior) {
  const onTheWay = new AbortController();
  const { signal } = onTheWay;
  const leave = () => onTheWay.abort();
  for (const name of OWN_SCROLLING) window.addEventListener(name, leave, { passive: true, signal });
  setTimeout(leave, ON_THE_WAY_MS);
  const arrive = () => {
    if (Math.abs(element.getBoundingClientRect().top) < NEAR_PX) go(element, 'instant');
  };
  document.addEventListener('scrollend', arrive, { signal });
  go(element, behavior);
}

function go(element, behavior) {
  element.scrollIntoView({ block: 'start', behavior });
}

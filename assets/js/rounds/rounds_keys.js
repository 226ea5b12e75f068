// Keys of Round by round: they work wherever nothing else on the tab takes them, and on the tab's own
// button, where the keyboard is after a click on it.

const PRESSED_BY_SPACE = 'button:not([role=tab]), a, summary, select, input';
const TAKES_ARROWS = 'select, input:not([type=checkbox]), textarea, [contenteditable]';

/** The button of the tab. */
export const TAB_BUTTON = 'sv-tab-rounds-button';

/** Let arrows, Home, End and Space move the reader while the tab at `place` is open. */
export function listenForMoves(place, reader, player) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isHere = target === document.body || target.id === TAB_BUTTON || place.contains(target);
    if (!isHere || !reader.round || !place.checkVisibility()) return;
    const taken = event.key === ' ' ? PRESSED_BY_SPACE : TAKES_ARROWS;
    if (target.closest(taken) || !move(event.key, reader, player)) return;
    event.preventDefault();
  });
}

function move(key, reader, player) {
  if (key === ' ') player.toggle();
  else if (key === 'ArrowRight') reader.to(reader.index + 1);
  else if (key === 'ArrowLeft') reader.to(reader.index - 1);
  else if (key === 'Home') reader.to(0);
  else if (key === 'End') reader.to(reader.rounds.length - 1);
  else if (key === 'ArrowDown') reader.stage(1);
  else if (key === 'ArrowUp') reader.stage(-1);
  else return false;
  if (key !== ' ' && player.isPlaying) player.stop();
  return true;
}

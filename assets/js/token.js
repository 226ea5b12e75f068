// One token as an element: its colour class, its mark, and the space around it.
import { make, visible } from './dom.js';

/**
 * Make the element of a token. White space before and after stays outside the coloured part, so that
 * marks sit on the word; a token of white space alone shows a sign in its place.
 */
export function tokenElement(token, outcome, id, label) {
  const outer = make('span', 'sv-t', '', {
    id,
    role: 'option',
    'aria-selected': 'false',
    'aria-label': `${visible(token.t)}: ${label}`,
  });
  const [, before, word, after] = token.t.match(/^(\s*)([^]*?)(\s*)$/);
  const inner = make('span', `sv-tok sv-${outcome.css_class}`, word);
  inner.dataset.mark = outcome.mark;
  if (!word) {
    inner.classList.add('is-blank');
    inner.dataset.blank = visible(token.t);
  }
  outer.append(document.createTextNode(before), inner, document.createTextNode(after));
  outer.dataset.fate = outcome.css_class;
  return outer;
}

/** Make the small raised number that closes a round. */
export function roundMark(round) {
  const mark = make('span', 'sv-round', '', { 'aria-hidden': 'true' });
  mark.dataset.round = round;
  return mark;
}

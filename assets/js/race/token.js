// One token as an element: its colour class, its mark, the space around it, and who is told when it is chosen.
import { make, visible, wrap } from '../page/dom.js';

/** Longer words may be broken, so that no text is wider than its lane. */
const LONG = 16;
/** Characters that would turn the reading order of all that follows. */
const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * Make the element of a token. White space before and after stays outside the coloured part, so that
 * marks sit on the word; a token of white space alone shows a sign instead. A thrown-away token
 * breaks no line. The last token of a round carries the round's number, small and raised.
 */
export function tokenElement({ text, fate, position }, id, label, round) {
  const outer = make('span', 'sv-t', '', { id, role: 'option', 'aria-selected': 'false', 'aria-label': label });
  const [before, word, after] = split(text);
  const inner = make('span', `sv-tok sv-${fate.name}`, word);
  inner.dataset.mark = fate.mark;
  if (!word) {
    inner.classList.add('is-blank');
    inner.dataset.blank = visible(text);
  }
  if (TURNS.test(word)) outer.classList.add('is-turned');
  const space = (white) =>
    document.createTextNode(position === null ? white.replaceAll('\n', '') : white);
  const keep = make('span', word.length > LONG ? '' : 'sv-keep');
  keep.append(inner);
  if (round) keep.append(roundMark(round));
  if (before) outer.append(space(before));
  outer.append(keep);
  if (after) outer.append(space(after));
  outer.dataset.fate = fate.name;
  return outer;
}

/** Make the one element of so many guesses that nobody judged; they are counted and not written. */
export function restElement(num, id, label, round) {
  const outer = make('span', 'sv-t', '', { id, role: 'option', 'aria-selected': 'false', 'aria-label': label });
  const count = make('span', 'sv-tok sv-rest');
  count.dataset.count = `+${num}`;
  const keep = wrap('span', 'sv-keep', count);
  if (round) keep.append(roundMark(round));
  outer.append(keep);
  outer.title = label;
  outer.dataset.fate = 'discarded';
  return outer;
}

/** The number of a round, small and raised. */
export function roundMark(number) {
  const mark = make('span', 'sv-round', '', { 'aria-hidden': 'true' });
  mark.dataset.round = number;
  return mark;
}

/** Part a text into the white space before it, its words, and the white space after it. */
function split(text) {
  const word = text.trim();
  if (!word) return ['', '', text];
  const at = text.indexOf(word);
  return [text.slice(0, at), word, text.slice(at + word.length)];
}

const choosers = [];

/** Call `listener(entry, race)` whenever a token is chosen by pointer or key. */
export function onChosenToken(listener) {
  choosers.push(listener);
}

/** A visitor has chosen a token. */
export function noteChosenToken(entry, race) {
  for (const listener of choosers) listener(entry, race);
}

// Shares, coins and tokens as Round by round writes them.

const BIDI = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const LONGEST = 80;

/** A share in percent, with a digit more near 0 and 1; only what is all or nothing is called so. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return '<0.1\u00a0%';
  if (share < 1 && share >= 0.9995) return '>99.9\u00a0%';
  const isFine = share < 0.0995 || (share > 0.9945 && share < 1);
  return `${(100 * share).toFixed(isFine ? 1 : 0)}\u00a0%`;
}

/** A chance or a coin as a number from 0 to 1. */
export function chance(number) {
  return number.toFixed(3);
}

/** A time in ms. */
export function milliseconds(ms) {
  return ms.toFixed(1);
}

/** Model text inside a sentence: on one line, not too long, and in no sentence's way. */
export function inSentence(text) {
  const line = text.replaceAll('\n', '⏎').replaceAll('\t', '⇥') || '∅';
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  // A line must not end between a quotation mark and its token.
  const joined = short.replace(/^ | $/g, '\u00a0');
  // Signs that turn the direction of writing end with the isolate.
  return BIDI.test(joined) ? `\u2068${joined}\u2069` : joined;
}

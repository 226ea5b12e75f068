// Numbers as this visit's language writes them. All that is shown of a number goes through here.

/** The language of this visit, chosen in the page's head. */
export const language = globalThis.specvizLanguage ?? 'en';

/** What stands where a number is not defined. */
export const MISSING = '–';

const formats = new Map();

/** @param {number} least fewest, @param {number} most highest number of decimals */
function format(number, least, most) {
  const key = `${least} ${most}`;
  if (!formats.has(key)) {
    const digits = { minimumFractionDigits: least, maximumFractionDigits: most };
    formats.set(key, new Intl.NumberFormat(language, digits));
  }
  return formats.get(key).format(number);
}

function isMissing(number) {
  return number === null || number === undefined || Number.isNaN(number);
}

/** A number with so many decimals. */
export function decimals(number, digits) {
  return isMissing(number) ? MISSING : format(number, digits, digits);
}

/** A number with as many decimals as it needs, at most `digits`. */
export function plain(number, digits = 3) {
  return isMissing(number) ? MISSING : format(number, 0, digits);
}

/** How many times as fast. */
export function times(number) {
  return isMissing(number) ? MISSING : `${decimals(number, 2)}×`;
}

/** A share in percent. */
export function percent(share, digits = 0) {
  return isMissing(share) ? MISSING : `${decimals(100 * share, digits)}\u00a0%`;
}

/** A share in percent, with a digit more near 0 and 1; only what is all or nothing is called so. */
export function finePercent(share) {
  if (isMissing(share)) return MISSING;
  if (share > 0 && share < 0.0005) return `<${percent(0.001, 1)}`;
  if (share < 1 && share >= 0.9995) return `>${percent(0.999, 1)}`;
  const isFine = share < 0.0995 || (share > 0.9945 && share < 1);
  return percent(share, isFine ? 1 : 0);
}

/** A chance or a coin from 0 to 1. */
export function chance(number, digits = 3) {
  return decimals(number, digits);
}

/** A number with four digits that a quotient can be worked out from. */
export function significant(number) {
  return isMissing(number) ? MISSING : format(Number(number.toPrecision(4)), 0, 8);
}

/** What plotly puts between whole part and decimals, and between thousands. */
export function separators() {
  const parts = new Intl.NumberFormat(language, { useGrouping: true }).formatToParts(12345.6);
  const sign = (type) => parts.find((part) => part.type === type)?.value ?? '';
  return sign('decimal') + sign('group');
}

/** Bytes in GB, without the unit, with as many decimals as `total` bytes are worth. */
export function gigabytes(bytes, total = bytes) {
  return decimals(bytes / 1e9, total >= 1e9 ? 1 : total >= 1e8 ? 2 : 5);
}

/** A large count in words: "5.6 million". */
export function compact(number) {
  if (isMissing(number)) return MISSING;
  const style = { notation: /** @type {const} */ ('compact'), compactDisplay: /** @type {const} */ ('long') };
  return new Intl.NumberFormat(language, { ...style, maximumFractionDigits: 1 }).format(number);
}

/** Texts one after the other, with the last "and". */
export function listed(texts) {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(texts);
}

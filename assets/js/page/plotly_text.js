// Texts as plotly reads them: it takes a few tags and entities in what it shows for its own.

const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text as plotly must be given it. */
export function asText(text) {
  return text.replaceAll(/[&<>]/g, (sign) => SIGNS[sign]);
}

/** Such a text as it was before. */
export function plainText(text) {
  return Object.entries(SIGNS).reduceRight((rest, [sign, written]) => rest.replaceAll(written, sign), text);
}

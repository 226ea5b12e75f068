// The page's texts: translate() gives one in the visitor's language, and writes a server's message out.
import { language, plain } from './numbers.js';
import { remember } from './memory.js';

const KEY = 'specviz-language';
const PLACEHOLDER = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

let table = {};
let english = {};
let plural = new Intl.PluralRules('en');

/** Take the tables of this visit's language and of English, which fills what is missing. */
export function setStrings(chosen, fallback) {
  plural = new Intl.PluralRules(language);
  [table, english] = [chosen, fallback];
}

/**
 * A text with its placeholders filled. Values may be texts, numbers, which are written in the
 * visitor's language, or messages.
 */
export function t(id, values = {}) {
  const text = table[id] ?? english[id];
  if (text === undefined) {
    console.error(`no text ${id}`);
    return id;
  }
  return text.replaceAll(PLACEHOLDER, (_, name, one, other) => {
    const value = values[name];
    if (one !== undefined) return plural.select(Number(value)) === 'one' ? one : other;
    return translate(value ?? '');
  });
}

/** What the server says: a plain text as it is, a message in the visitor's language. */
export function translate(text) {
  if (typeof text === 'number') return plain(text);
  return typeof text === 'object' ? t(text.id, text) : text;
}

/**
 * A refusal as a sentence: a full stop last, and a capital first unless what stands there is a name
 * of its own (a field, a path, a model).
 */
export function sentence(text) {
  const words = translate(text).trim();
  const begun = words.replace(/^\p{Ll}+(?=[\s,:;])/u, (word) => word[0].toLocaleUpperCase(language) + word.slice(1));
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** The same texts, by `section.key`. */
export function flatten(sections) {
  const flat = {};
  for (const [section, texts] of Object.entries(sections)) {
    for (const [key, text] of Object.entries(texts)) flat[`${section}.${key}`] = text;
  }
  return flat;
}

/** Remember a language and load the page again in it. */
export function chooseLanguage(name) {
  // A browser may forbid storage; the address carries the choice too.
  remember(KEY, name);
  const address = new URL(window.location.href);
  address.searchParams.set('lang', name);
  window.location.assign(address);
}

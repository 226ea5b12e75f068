// The page's texts: t() gives one in the visitor's language, tell() writes a message of the server out.
import { remember } from './memory.js';

const KEY = 'specviz-language';
const PLACEHOLDER = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

let table = {};
let english = {};
let plural = new Intl.PluralRules('en');

/** The language of this visit, chosen in the page's head. */
export const language = window.specvizLanguage ?? 'en';

/** Load the table of the language beside the English one, which fills what is missing. */
export async function loadStrings() {
  plural = new Intl.PluralRules(language);
  [english, table] = await Promise.all([readTable('en'), readTable(language)]);
}

/** A text with its placeholders filled; values may be texts, numbers or messages. */
export function t(id, values = {}) {
  const text = table[id] ?? english[id];
  if (text === undefined) {
    console.error(`no text ${id}`);
    return id;
  }
  return text.replaceAll(PLACEHOLDER, (_, name, one, other) => {
    const value = values[name];
    if (one !== undefined) return plural.select(Number(value)) === 'one' ? one : other;
    return tell(value ?? '');
  });
}

/** What the server says: a plain text as it is, a message in the visitor's language. */
export function tell(text) {
  return typeof text === 'object' ? t(text.id, text) : String(text);
}

/** Remember a language and load the page again in it. */
export function chooseLanguage(name) {
  // A browser may forbid storage; the address carries the choice too.
  remember(KEY, name);
  const address = new URL(window.location.href);
  address.searchParams.set('lang', name);
  window.location.assign(address);
}

async function readTable(name) {
  const response = await fetch(new URL(`../../strings/${name}.json`, import.meta.url));
  const sections = await response.json();
  const flat = {};
  for (const [section, texts] of Object.entries(sections)) {
    for (const [key, text] of Object.entries(texts)) flat[`${section}.${key}`] = text;
  }
  return flat;
}

// Gives the tests of pure modules the page's English texts, and files beside them.
import { readFileSync } from 'node:fs';
import { flatten, setStrings } from '../../assets/js/page/strings.js';

/** Read a JSON file by its path from this folder. */
export function readJson(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf-8'));
}

/** Let texts be looked up in English. */
export function useEnglish() {
  useTextsOf('en');
}

/** Let texts be looked up in a language. */
export function useTextsOf(language) {
  const [chosen, english] = [language, 'en'].map((each) => flatten(readJson(`../../assets/strings/${each}.json`)));
  setStrings(chosen, english);
}

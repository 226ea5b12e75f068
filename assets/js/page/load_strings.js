// Loads the page's texts from its own server.
import { language } from './numbers.js';
import { flatten, setStrings } from './strings.js';

/** Load the tables of this visit's language and of English. */
export async function loadStrings() {
  setStrings(...(await Promise.all([readTable(language), readTable('en')])));
}

async function readTable(name) {
  const response = await fetch(new URL(`../../strings/${name}.json`, import.meta.url));
  return flatten(await response.json());
}

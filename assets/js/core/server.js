// Asks the server, beside races: the doors of `specviz/ui/doors.py`, by name.
import { t } from './strings.js';

let openDoors;
const doors = new Promise((resolve) => {
  openDoors = resolve;
});

/** Hand over the functions that the hidden bus offers. */
export function connectServer(functions) {
  openDoors(functions);
}

/** Call a door; a refusal and a silent server both end as `{ error: text }`. */
export async function ask(name, ...values) {
  try {
    const functions = await doors;
    // One argument arrives as it is, several as a list: a list is what doors expect.
    return await functions[name](values);
  } catch (error) {
    console.warn(`the server did not answer ${name}`, error);
    return { error: t('error.server_silent') };
  }
}

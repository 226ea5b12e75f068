// Asks the server, beside races: its functions of `specviz/ui/server_functions.py`, by name.
import { t } from '../page/strings.js';

let connectFunctions;
const functions = new Promise((resolve) => {
  connectFunctions = resolve;
});
/** Wishes go one after the other, so that the server's last one is the visitor's. @type {Promise<any>} */
let wishes = Promise.resolve();

/** Hand over the functions that the hidden bus offers. */
export function connectServer(offered) {
  connectFunctions(offered);
}

/** Call a server function; a refusal and a silent server both end as `{ error: text }`. */
export async function ask(name, ...values) {
  try {
    const offered = await functions;
    // One argument arrives as it is, several as a list: a list is what the server expects.
    return await offered[name](values);
  } catch (error) {
    console.warn(`the server did not answer ${name}`, error);
    return { error: t('error.server_silent') };
  }
}

/** Wish something of a run: `pause`, `resume`, `step`, `stop`, or `pace` with milliseconds. */
export function control(run, wish, value = null) {
  wishes = wishes.then(() => ask('control', run, wish, value));
  return wishes;
}

// The targets that can be chosen, with what fits each: those the page came with, and pairs of the hub.

/**
 * @typedef {{ target: string, drafts: string[], methods: string[], exits: number[],
 *   num_parameters: number | null, has_chat: boolean, is_hub: boolean, is_known: boolean,
 *   translated: string[], heads: string[] }} Pair
 */

/** @type {Pair[] | null} */
let pairs = null;
const listeners = [];

/** Let a part's menu hold the one list that all parts share. */
export function shareMenu(menu) {
  pairs ??= menu.pairs;
  menu.pairs = pairs;
  return menu;
}

/** The entry of a target, undefined where it is not offered. */
export function pairOf(target) {
  return pairs?.find((pair) => pair.target === target);
}

/** Put a pair on the menu, in the place of an older entry for its target. */
export function offerPair(pair) {
  const index = pairs.findIndex((each) => each.target === pair.target);
  if (index < 0) pairs.push(pair);
  else pairs[index] = pair;
  for (const listener of listeners) listener(pair);
}

/** Call `listener(pair)` whenever a pair has joined the menu. */
export function onOffer(listener) {
  listeners.push(listener);
}

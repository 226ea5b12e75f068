// Which ways to guess a sweep of one target can race, and which are chosen at first.
import { writeLane } from '../controls/link.js';
import { t } from '../page/strings.js';

const FIRST_DRAFTS = 4;
const FITTED = 'fitted/';

/** All lanes of a menu entry, each with its `key`, its `name`, and whether it is chosen `atFirst`. */
export function choicesOf({ drafts, methods, exits, heads }) {
  const shipped = drafts.filter((draft) => !draft.startsWith(FITTED));
  const lanes = drafts.map((draft) => ({
    lane: { method: 'draft-model', draft },
    name: draft,
    atFirst: shipped.indexOf(draft) >= 0 && shipped.indexOf(draft) < FIRST_DRAFTS,
  }));
  if (methods.includes('prompt-lookup')) {
    lanes.push({ lane: { method: 'prompt-lookup' }, name: t('editor.prompt_lookup'), atFirst: true });
  }
  if (methods.includes('early-exit')) {
    const layers = exits.length ? exits : [undefined];
    for (const [index, layer] of layers.entries()) {
      const lane = layer === undefined ? { method: 'early-exit' } : { method: 'early-exit', exit_layer: layer };
      const name = layer === undefined ? t('editor.early_exit') : t('sweep_page.exit_layer', { layer });
      lanes.push({ lane, name, atFirst: index === 0 });
    }
  }
  if (methods.includes('eagle3')) {
    lanes.push(...heads.map((head) => ({ lane: { method: 'eagle3', head }, name: head, atFirst: head === heads[0] })));
  }
  if (methods.includes('mtp')) lanes.push({ lane: { method: 'mtp' }, name: t('editor.mtp'), atFirst: true });
  return lanes.map((each) => ({ ...each, key: writeLane(each.lane) }));
}

/** A number from a field, within its ends; `fallback` where it holds none. */
export function within(text, low, high, fallback) {
  const number = Number.parseFloat(text);
  return Number.isFinite(number) ? Math.min(high, Math.max(low, number)) : fallback;
}

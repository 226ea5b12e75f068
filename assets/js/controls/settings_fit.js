// Fits settings from links, lessons and earlier visits to what this page offers.
import { t } from '../core/strings.js';

const NUMBERS = ['temperature', 'top_k', 'top_p', 'seed', 'tokens'];

/** Take over from `asked` what fits; `faults` has a sentence for each thing that does not. */
export function fitSettings(asked, before, menu) {
  const faults = [];
  const fitting = { ...before };
  for (const name of NUMBERS) {
    if (asked[name] !== undefined) {
      fitting[name] = fitNumber(name, asked[name], before[name], menu.spans[name], faults);
    }
  }
  if (asked.prompt !== undefined) fitting.prompt = fitPrompt(asked.prompt, before, menu, faults);
  if (asked.target !== undefined) {
    const targets = menu.pairs.map((pair) => pair.target);
    fitting.target = fitChoice('target', asked.target, before.target, targets, faults);
  }
  const wish = Array.isArray(asked.lanes) && asked.lanes.length ? asked.lanes : null;
  const found = fitLanes(wish ?? before.lanes, fitting.target, menu);
  fitting.lanes = found.lanes;
  // Lanes that nobody asked for follow the target in silence.
  if (wish) faults.push(...found.faults);
  return { fitting, faults };
}

/** Fit lanes to a target: each gets what its method takes, and nothing else. */
export function fitLanes(asked, target, menu) {
  const faults = [];
  const pair = menu.pairs.find((each) => each.target === target);
  const most = menu.max_lanes;
  if (asked.length > most) faults.push(t('preset.too_many_lanes', { found: asked.length, most }));
  const lanes = asked.slice(0, most).map((lane) => fitLane(lane ?? {}, pair, menu, faults));
  return { lanes, faults };
}

function fitLane(asked, pair, menu, faults) {
  const method = fitChoice('method', asked.method, pair.methods[0], pair.methods, faults);
  const lane = { method };
  if (method === 'draft-model') {
    lane.draft = fitChoice('draft', asked.draft, pair.drafts[0], pair.drafts, faults);
  }
  if (method === 'early-exit' && pair.exits.length) {
    const layer = Number(asked.exit_layer ?? pair.exits[0]);
    lane.exit_layer = fitChoice('exit_layer', layer, pair.exits[0], pair.exits, faults);
  }
  const numbers = method === 'prompt-lookup' ? ['max_ngram', 'gamma'] : ['gamma'];
  for (const name of numbers) {
    const usual = menu.lane[name];
    lane[name] = fitNumber(name, asked[name] ?? usual, usual, menu.spans[name], faults);
  }
  if (typeof asked.name === 'string' && asked.name) lane.name = asked.name.slice(0, 60);
  return lane;
}

function fitPrompt(asked, before, menu, faults) {
  const text = String(asked);
  if (text.length <= menu.max_prompt_chars) return text;
  const values = { chars: text.length, allowed: menu.max_prompt_chars };
  faults.push(t('preset.prompt_too_long', values));
  return before.prompt;
}

/** A number of [low, high, step]; a whole step asks for a whole number. */
function fitNumber(name, asked, otherwise, [low, high, step], faults) {
  const text = String(asked).trim();
  const number = text === '' ? NaN : Number(text);
  const isWhole = Number.isInteger(number) || !Number.isInteger(step);
  if (isWhole && number >= low && number <= high) return number;
  faults.push(t('preset.out_of_range', { name, found: text, low, high, otherwise }));
  return otherwise;
}

function fitChoice(name, asked, otherwise, allowed, faults) {
  if (asked === undefined) return otherwise;
  if (allowed.includes(asked)) return asked;
  const values = { name, found: String(asked), allowed: allowed.join(', '), otherwise };
  faults.push(t('preset.not_offered', values));
  return otherwise;
}

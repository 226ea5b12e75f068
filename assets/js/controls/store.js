// The settings as they stand, and what of a wish this page can do; nothing here draws or remembers.
import { t } from '../page/strings.js';

/**
 * @typedef {{ method: string, gamma: number, draft?: string, exit_layer?: number,
 *   max_ngram?: number, schedule?: string, confidence?: number,
 *   tree?: string, branches?: number, budget?: number,
 *   name?: string, rule?: string, flipped_coins?: number[],
 *   head?: string, head_reading?: string }} Lane
 * @typedef {{ prompt: string, temperature: number, top_k: number, top_p: number, seed: number,
 *   tokens: number, chat: boolean, target: string, lanes: Lane[] }} Settings
 */

/** Settings that Gradio's own controls hold. */
const NUMBERS = ['temperature', 'top_k', 'top_p', 'seed', 'tokens'];
/** A head is read as it agrees best with its target. */
const BEST = 'best';
const OF_GRADIO = ['prompt', 'chat', ...NUMBERS];

/**
 * Holds target and lanes; of the settings that Gradio's controls hold it knows what they told. Values
 * are replaced and never changed in place.
 */
export class SettingsStore {
  #menu;
  #ask;
  #notify;
  /** What Gradio's controls were asked for and have not told yet. */
  #asked = {};
  /** Who waits until nothing is asked for any more. */
  #waiting = [];
  /** @type {Settings} */
  values;

  /**
   * `menu` is what `specviz/ui/settings_data.py` gives; `ask(some)` sets Gradio's controls, and
   * `notify(values, origin)` tells of every change.
   */
  constructor(menu, ask, notify) {
    this.#menu = menu;
    this.#ask = ask;
    this.#notify = notify;
    const { lanes } = fitLanes(menu.first.lanes, menu.first.target, menu);
    this.values = { ...menu.first, lanes };
  }

  /** Wish for some settings; gives a sentence for each thing that this page cannot do. */
  wish(some, origin = null) {
    const before = { ...this.values, ...this.#asked };
    const { fitting, faults } = fitSettings(some, before, this.#menu);
    const wished = OF_GRADIO.filter((name) => fitting[name] !== before[name]);
    for (const name of wished) this.#asked[name] = fitting[name];
    if (wished.length) this.#ask({ ...this.#asked });
    const { target, lanes } = fitting;
    if (target !== before.target || lanes !== before.lanes) this.#set({ target, lanes }, origin);
    return faults;
  }

  /** Whether nothing is asked for that has not been told yet. */
  get isSettled() {
    return Object.keys(this.#asked).length === 0;
  }

  /** Take what one of Gradio's controls holds now; says whether the visitor chose it there. */
  note(name, value) {
    const isAnswer = this.#asked[name] === value;
    delete this.#asked[name];
    if (this.#isSettled) this.#waiting.splice(0).forEach((go) => go());
    if (value === null || value === this.values[name]) return false;
    this.#set({ [name]: value }, null);
    return !isAnswer;
  }

  /** Wait until Gradio's controls have told all that they were asked for. @returns {Promise<void>} */
  whenSettled() {
    return new Promise((go) => {
      if (this.#isSettled) go();
      else this.#waiting.push(go);
    });
  }

  get #isSettled() {
    return Object.keys(this.#asked).length === 0;
  }

  #set(some, origin) {
    this.values = { ...this.values, ...some };
    this.#notify(this.values, origin);
  }
}

/** Take over from `asked` what fits; `faults` has a sentence for each thing that does not. */
export function fitSettings(asked, before, menu) {
  const faults = [];
  const fitting = { ...before };
  for (const name of NUMBERS.filter((each) => asked[each] !== undefined)) {
    fitting[name] = fitNumber(name, asked[name], before[name], menu.spans[name], faults);
  }
  if (asked.prompt !== undefined) fitting.prompt = fitPrompt(asked.prompt, before, menu, faults);
  if (asked.chat !== undefined) fitting.chat = fitSwitch('chat', asked.chat, before.chat, faults);
  if (asked.target !== undefined) {
    const targets = menu.pairs.map((pair) => pair.target);
    fitting.target = fitChoice('target', asked.target, before.target, targets, faults);
  }
  const wished = Array.isArray(asked.lanes) && asked.lanes.length ? asked.lanes : null;
  if (wished || fitting.target !== before.target) {
    const found = fitLanes(wished ?? before.lanes, fitting.target, menu);
    fitting.lanes = found.lanes;
    // Lanes that nobody asked for follow the target in silence.
    if (wished) faults.push(...found.faults);
  }
  return { fitting, faults };
}

/** Fit lanes to a target: each gets what its method takes, and nothing else. */
export function fitLanes(asked, target, menu) {
  const faults = [];
  const pair = menu.pairs.find((each) => each.target === target);
  const most = menu.max_drafting_lanes;
  if (asked.length > most) faults.push(t('preset.too_many_lanes', { found: asked.length, most }));
  const lanes = asked.slice(0, most).map((lane) => fitLane(lane ?? {}, pair, menu, faults));
  return { lanes, faults };
}

function fitLane(asked, pair, menu, faults) {
  const choose = (name, value, allowed) => fitChoice(name, value, allowed[0], allowed, faults);
  const lane = { method: choose('method', asked.method, pair.methods) };
  if (lane.method === 'draft-model') lane.draft = choose('draft', asked.draft, pair.drafts);
  if (lane.method === 'early-exit' && pair.exits.length) {
    lane.exit_layer = choose('exit_layer', Number(asked.exit_layer ?? pair.exits[0]), pair.exits);
  }
  if (lane.method === 'eagle3') Object.assign(lane, fitHead(asked, pair, menu, faults));
  for (const name of lane.method === 'prompt-lookup' ? ['max_ngram', 'gamma'] : ['gamma']) {
    const usual = menu.lane[name];
    lane[name] = fitNumber(name, asked[name] ?? usual, usual, menu.spans[name], faults);
  }
  // Only a wrong rule is worth a word.
  const rule = fitChoice('rule', asked.rule, 'right', rulesOf(lane.method, menu), faults);
  if (rule !== 'right') lane.rule = rule;
  const tree = fitTree(asked, lane, menu, faults);
  // A tree grows to one depth.
  const schedule = tree.tree ? {} : fitSchedule(asked, lane.method, menu, faults);
  return Object.assign(lane, schedule, tree, fitCoins(asked), fitName(asked, menu));
}

/** The head that guesses, and how it is read where somebody said so. */
function fitHead(asked, pair, menu, faults) {
  const head = fitChoice('head', asked.head, pair.heads[0], pair.heads, faults);
  const reading = fitChoice('head_reading', asked.head_reading, BEST, [BEST, ...menu.readings], faults);
  return reading === BEST ? { head } : { head, head_reading: reading };
}

function fitCoins({ flipped_coins: asked = [] }) {
  const coins = asked.map(Number).filter((coin) => Number.isInteger(coin) && coin >= 0);
  return coins.length ? { flipped_coins: coins } : {};
}

function fitName({ name }, { max_lane_name_chars: most }) {
  return typeof name === 'string' && name ? { name: name.slice(0, most) } : {};
}

/** How draft lengths are chosen: nothing where γ is fixed. */
function fitSchedule(asked, method, menu, faults) {
  const schedule = fitChoice('schedule', asked.schedule, 'fixed', schedulesOf(method, menu), faults);
  if (schedule === 'fixed') return {};
  if (schedule !== 'confidence') return { schedule };
  const usual = menu.lane.confidence;
  return { schedule, confidence: fitNumber('confidence', asked.confidence ?? usual, usual, menu.spans.confidence, faults) };
}

/** How a lane's guesses hang together: nothing where they are a chain. */
function fitTree(asked, lane, menu, faults) {
  const tree = fitChoice('tree', asked.tree, 'none', treesOf(lane, menu), faults);
  if (tree === 'none') return {};
  const sizes = ['branches', 'budget'].map((name) => {
    const usual = menu.lane[name];
    return [name, fitNumber(name, asked[name] ?? usual, usual, menu.spans[name], faults)];
  });
  return { tree, ...Object.fromEntries(sizes) };
}

/** The trees that a lane can guess: what copies, or reads the target's first layers, guesses chains alone, and wrong rules judge no other. */
export function treesOf({ method, rule = 'right' }, { trees }) {
  const canBranch = rule === 'right' && ['draft-model', 'eagle3'].includes(method);
  return trees.filter((tree) => tree === 'none' || canBranch);
}

/** The rules that a method's guesses can be kept by; copied ones come without the probabilities that one of them takes. */
export function rulesOf(method, { rules }) {
  return rules.filter((rule) => method !== 'prompt-lookup' || rule !== 'argmax-softmax');
}

/** How a method's draft lengths can be chosen; copied guesses have no probability to be unsure by. */
export function schedulesOf(method, { schedules }) {
  return schedules.filter((schedule) => method !== 'prompt-lookup' || schedule !== 'confidence');
}

function fitPrompt(asked, before, { max_prompt_chars: allowed }, faults) {
  const text = String(asked);
  if (text.length <= allowed) return text;
  faults.push(t('preset.prompt_too_long', { chars: text.length, allowed }));
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

/** Yes or no; an address says it in letters. */
function fitSwitch(name, asked, otherwise, faults) {
  return fitChoice(name, String(asked), String(otherwise), ['true', 'false'], faults) === 'true';
}

function fitChoice(name, asked, otherwise, allowed, faults) {
  if (asked === undefined) return otherwise;
  if (allowed.includes(asked)) return asked;
  const values = { name, found: String(asked), allowed: allowed.join(', '), otherwise };
  faults.push(t('preset.not_offered', values));
  return otherwise;
}

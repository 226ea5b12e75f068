// Settings as an address that people can read: ?prompt=…&temperature=0.8&lane=draft-model:specviz-small:4

const PLAIN = ['prompt', 'temperature', 'top_k', 'top_p', 'seed', 'tokens', 'chat', 'target'];
const LANE = ['method', 'draft', 'gamma', 'exit_layer', 'max_ngram', 'rule', 'schedule', 'confidence', 'tree', 'branches', 'budget', 'head', 'head_reading'];
/** Names that somebody gave the lanes, one a lane and in the same order, empty where nobody did. */
const NAMES = 'lane_name';
/** Likewise the rules of lanes, empty where it is the right one. */
const RULES = 'lane_rule';
/** And the coins that fall the other way. */
const COINS = 'lane_coin';
/** Likewise how their draft lengths are chosen, empty where γ is fixed: `auto`, `confidence:0.4`. */
const SCHEDULES = 'lane_schedule';
/** Likewise their trees, with branches and nodes, empty where a lane guesses a chain: `dynamic:4:24`. */
const TREES = 'lane_tree';
/** And how their heads are read, empty where that is left to what agrees best with the target. */
const READINGS = 'lane_reading';
/** How what is said of each lane beside its own text is written, of its fields, and read. */
const BESIDE = {
  [NAMES]: { write: ({ name }) => name, read: (name) => ({ name }) },
  [RULES]: { write: ({ rule }) => rule, read: (rule) => ({ rule }) },
  [COINS]: { write: ({ flipped_coins: coins }) => coins?.join(','), read: (text) => ({ flipped_coins: text.split(',') }) },
  [SCHEDULES]: { write: writeSchedule, read: readSchedule },
  [TREES]: { write: writeTree, read: readTree },
  [READINGS]: { write: ({ head_reading: how }) => how, read: (how) => ({ head_reading: how }) },
};
/** What stands between method and γ in a written lane. */
const DETAILS = { 'draft-model': 'draft', 'early-exit': 'exit_layer', 'prompt-lookup': 'max_ngram', eagle3: 'head' };

/** Settings that an address asks for, as unchecked texts; null where it asks for none. */
export function readLink(search) {
  const asked = new URLSearchParams(search);
  const has = (name) => asked.has(name);
  if (![...PLAIN, ...LANE, 'lane'].some(has)) return null;
  const settings = Object.fromEntries(PLAIN.filter(has).map((name) => [name, asked.get(name)]));
  if (!settings.prompt?.trim()) delete settings.prompt;
  const beside = Object.entries(BESIDE).map(([key, { read }]) => ({ read, values: asked.getAll(key) }));
  /** @type {object[]} */
  const lanes = asked.getAll('lane').map((text, index) => {
    const said = beside.filter(({ values }) => values[index]).map(({ read, values }) => read(values[index]));
    return Object.assign(readLane(text), ...said);
  });
  if (LANE.some(has)) {
    lanes.unshift(Object.fromEntries(LANE.filter(has).map((name) => [name, asked.get(name)])));
  }
  return { ...settings, lanes };
}

/** The address of a page with these settings; it names all, since what a page begins with may change. */
export function linkOf(settings, address) {
  const url = new URL(address);
  url.search = url.hash = '';
  for (const name of PLAIN) url.searchParams.set(name, settings[name]);
  for (const lane of settings.lanes) url.searchParams.append('lane', writeLane(lane));
  for (const [key, { write }] of Object.entries(BESIDE)) {
    if (settings.lanes.every((lane) => write(lane) === undefined)) continue;
    for (const lane of settings.lanes) url.searchParams.append(key, write(lane) ?? '');
  }
  // These two are allowed in a query as they are, and read better.
  url.search = url.search.replaceAll('%3A', ':').replaceAll('%2F', '/');
  return url.href;
}

/** An address without any settings. */
export function withoutSettings(address) {
  const url = new URL(address);
  for (const name of [...PLAIN, ...LANE, 'lane', ...Object.keys(BESIDE)]) url.searchParams.delete(name);
  return url.href;
}

/** `METHOD`, `METHOD:γ`, `METHOD:DETAIL` or `METHOD:DETAIL:γ`; names may hold colons themselves. */
function readLane(text) {
  const [method, ...rest] = text.split(':');
  /** @type {Record<string, string>} */
  const lane = { method };
  const isNumber = (part) => /^-?[\d.]+$/.test(part ?? '');
  if (isNumber(rest.at(-1))) lane.gamma = rest.pop();
  if (rest.length && DETAILS[method]) lane[DETAILS[method]] = rest.join(':');
  return lane;
}

function readSchedule(text) {
  const [schedule, confidence] = text.split(':');
  return confidence === undefined ? { schedule } : { schedule, confidence };
}

function writeSchedule({ schedule, confidence }) {
  return confidence === undefined ? schedule : `${schedule}:${confidence}`;
}

function readTree(text) {
  const [tree, branches, budget] = text.split(':');
  return { tree, ...(branches && { branches }), ...(budget && { budget }) };
}

function writeTree({ tree, branches, budget }) {
  return tree && [tree, branches, budget].join(':');
}

/** A lane as an address holds it. */
export function writeLane(lane) {
  const detail = lane[DETAILS[lane.method]];
  return [lane.method, detail, lane.gamma].filter((part) => part !== undefined).join(':');
}

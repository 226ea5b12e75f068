// Settings as an address that people can read: ?prompt=…&temperature=0.8&lane=draft-model:specviz-small:4

const PLAIN = ['prompt', 'temperature', 'top_k', 'top_p', 'seed', 'tokens', 'chat', 'target'];
const LANE = ['method', 'draft', 'gamma', 'exit_layer', 'max_ngram'];
/** Names that somebody gave the lanes, one a lane and in the same order, empty where nobody did. */
const NAMES = 'lane_name';
/** What stands between method and γ in a written lane. */
const DETAILS = { 'draft-model': 'draft', 'early-exit': 'exit_layer', 'prompt-lookup': 'max_ngram' };

/** Settings that an address asks for, as unchecked texts; null where it asks for none. */
export function readLink(search) {
  const asked = new URLSearchParams(search);
  const has = (name) => asked.has(name);
  if (![...PLAIN, ...LANE, 'lane'].some(has)) return null;
  const settings = Object.fromEntries(PLAIN.filter(has).map((name) => [name, asked.get(name)]));
  if (!settings.prompt?.trim()) delete settings.prompt;
  const names = asked.getAll(NAMES);
  /** @type {object[]} */
  const lanes = asked.getAll('lane').map((text, index) => readLane(text, names[index]));
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
  const isNamed = settings.lanes.some((lane) => lane.name);
  if (isNamed) for (const lane of settings.lanes) url.searchParams.append(NAMES, lane.name ?? '');
  // These two are allowed in a query as they are, and read better.
  url.search = url.search.replaceAll('%3A', ':').replaceAll('%2F', '/');
  return url.href;
}

/** An address without any settings. */
export function withoutSettings(address) {
  const url = new URL(address);
  for (const name of [...PLAIN, ...LANE, 'lane', NAMES]) url.searchParams.delete(name);
  return url.href;
}

/** `METHOD`, `METHOD:γ`, `METHOD:DETAIL` or `METHOD:DETAIL:γ`; names may hold colons themselves. */
function readLane(text, name) {
  const [method, ...rest] = text.split(':');
  /** @type {Record<string, string>} */
  const lane = { method, ...(name && { name }) };
  const isNumber = (part) => /^-?[\d.]+$/.test(part ?? '');
  if (isNumber(rest.at(-1))) lane.gamma = rest.pop();
  if (rest.length && DETAILS[method]) lane[DETAILS[method]] = rest.join(':');
  return lane;
}

/** A lane as an address holds it. */
export function writeLane(lane) {
  const detail = lane[DETAILS[lane.method]];
  return [lane.method, detail, lane.gamma].filter((part) => part !== undefined).join(':');
}

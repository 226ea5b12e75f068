// The settings of a sweep as an address: ?sweep=draft-model:specviz-small&sweep=prompt-lookup&sweep_gammas=1-8
import { writeLane } from '../controls/link.js';

const LANE = 'sweep';
const NUMBERS = ['temperature', 'tokens', 'minutes'];
const LINES = 'sweep_line';
/** Longer prompts of one's own do not travel in an address. */
const MOST_CHARS = 1500;

/** What an address asks to be measured, unchecked, its lanes as written; null where it asks for no sweep. */
export function readSweepLink(search) {
  const asked = new URLSearchParams(search);
  if (!asked.has(LANE)) return null;
  const numbers = NUMBERS.filter((name) => asked.has(`sweep_${name}`));
  const gammas = /^(\d+)-(\d+)$/.exec(asked.get('sweep_gammas') ?? '');
  const lines = asked.getAll(LINES);
  return {
    ...Object.fromEntries(numbers.map((name) => [name, Number(asked.get(`sweep_${name}`))])),
    ...(asked.has('sweep_target') && { target: asked.get('sweep_target') }),
    ...(gammas && { gammas: [Number(gammas[1]), Number(gammas[2])] }),
    ...(lines.length && { suite: 'lines', text: lines.join('\n') }),
    lanes: asked.getAll(LANE),
  };
}

/** The address of a page with these settings; prompts from a file, or very long ones, stay here. */
export function sweepLinkOf(settings, address) {
  const url = new URL(address);
  url.search = url.hash = '';
  for (const lane of settings.lanes) url.searchParams.append(LANE, writeLane(lane));
  url.searchParams.set('sweep_target', settings.target);
  url.searchParams.set('sweep_gammas', settings.gammas.join('-'));
  for (const name of NUMBERS) url.searchParams.set(`sweep_${name}`, settings[name]);
  if (settings.suite === 'lines' && settings.text.length <= MOST_CHARS) {
    const lines = settings.text.split('\n').filter((line) => line.trim());
    for (const line of lines) url.searchParams.append(LINES, line);
  }
  url.search = url.search.replaceAll('%3A', ':').replaceAll('%2F', '/');
  return url.href;
}

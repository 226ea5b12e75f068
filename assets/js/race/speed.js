// How fast races are shown: at full speed, slower, or one round at a time. Clocks are never slowed.
import { FACTORS } from '../model/playback.js';
import { make, wrap } from '../page/dom.js';
import { remember, remembered } from '../page/memory.js';
import { t } from '../page/strings.js';

/** A browser that knows this has seen a live race, or chosen a speed. */
const KEY = 'specviz-raced';
const SEEN = 'seen';
/** How much slower a visitor's first live race is shown. */
const FIRST_FACTOR = 4;
const BY_ROUND = 'round';

/** Draw the choice beside the button that starts races; the first live race is slower by itself. */
export function mountSpeed(container, data, panel) {
  container.append(choice(panel, 'speed.label', briefNameOf, `sv-speed-${panel.name}`));
  slowFirstRace(panel.playback);
}

/** The same choice in few letters, for the transport. */
export function shortSpeed(panel) {
  return choice(panel, 'speed.short_label', shortNameOf, `sv-speed-short-${panel.name}`);
}

function choice({ playback }, label, name, group) {
  const values = [...FACTORS.map(String), BY_ROUND];
  const inputs = values.map((value) => {
    const title = nameOf(value);
    const input = make('input', '', '', { type: 'radio', name: group, value, 'aria-label': title });
    input.addEventListener('change', () => choose(playback, value));
    return input;
  });
  const segments = inputs.map((input) => {
    const segment = wrap('label', 'sv-segment', input, make('span', '', name(input.value)));
    segment.title = input.getAttribute('aria-label');
    return segment;
  });
  const box = wrap('fieldset', 'sv-speed', make('legend', '', t(label)), wrap('div', 'sv-segments', ...segments));
  playback.subscribe(({ factor, isByRound }) => {
    const shown = isByRound ? BY_ROUND : String(factor);
    for (const input of inputs) if (input.checked !== (input.value === shown)) input.checked = !input.checked;
  });
  return box;
}

function choose(playback, value) {
  remember(KEY, SEEN);
  if (value === BY_ROUND) playback.goByRound();
  else playback.setFactor(Number(value));
}

function nameOf(value) {
  if (value === BY_ROUND) return t('speed.by_round');
  return value === '1' ? t('speed.full') : t('speed.slower', { n: Number(value) });
}

/** Beside the button that starts races, where the title says the rest. */
function briefNameOf(value) {
  return value === '1' || value === BY_ROUND ? shortNameOf(value) : nameOf(value);
}

function shortNameOf(value) {
  if (value === BY_ROUND) return t('speed.short_by_round');
  return value === '1' ? t('speed.short_full') : t('speed.short_slower', { n: Number(value) });
}

/** Nobody can follow a race of a second: the first one that a visitor starts is slowed. */
function slowFirstRace(playback) {
  let slowed = null;
  playback.follow((race) => {
    if (playback.run === null) return;
    if (race.isOver && race.hasRounds) remember(KEY, SEEN);
    if (!race.isBusy || race === slowed || remembered(KEY) === SEEN) return;
    slowed = race;
    playback.slowOnce(FIRST_FACTOR);
  });
}

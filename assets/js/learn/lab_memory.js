// The lab of one token's cost: a large model's pass, which memory decides, beside this page's own, and
// beside what was measured with models of real size.
import { aboutDevice } from '../model/names.js';
import { make, wrap } from '../page/dom.js';
import { decimals, percent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { makeOwnCosts } from './lab_own_costs.js';
import { boundOf, largeNumbers, passNumbers, sourceOf } from './facts.js';

/**
 * What is in the lab; `large` is what Python reckons of a large model's pass, `devices` the passes that
 * were measured on devices, and `target` the one that is measured on request.
 */
export function makeMemory(facts, large, devices, target) {
  const own = make('div', 'sv-memory');
  facts.subscribe(() => {
    const numbers = passNumbers(facts);
    own.replaceChildren(make('b', '', t('learn.memory_own')), ...(numbers ? ownPass(facts, numbers) : unknown()));
  });
  return [largePass(large), own, makeOwnCosts(target), ...(devices.length ? [measured(devices)] : [])];
}

function largePass(large) {
  const numbers = largeNumbers(large);
  return wrap(
    'div',
    'sv-memory',
    make('b', '', t('learn.memory_large', numbers)),
    bar('target', large.read_ms, large.read_ms, t('learn.memory_read', numbers)),
    bar('draft', large.arithmetic_ms, large.read_ms, t('learn.memory_arithmetic', numbers)),
    make('p', 'sv-memory-rate', t('learn.memory_idle', numbers)),
    make('p', 'sv-source', t('learn.memory_peaks', numbers)),
  );
}

/** A time as a bar on the scale of the longest, with its sentence. */
function bar(who, time, longest, text) {
  const filled = make('i', `sv-block is-${who}`);
  filled.style.width = `${(100 * time) / longest}%`;
  const row = wrap('div', 'sv-memory-bar', filled);
  row.setAttribute('aria-hidden', 'true');
  return wrap('div', '', make('p', '', text), row);
}

function ownPass(facts, numbers) {
  return [
    make('p', '', t('learn.memory_size', numbers)),
    make('p', '', t('learn.memory_step', numbers)),
    make('p', 'sv-memory-rate', t('learn.memory_rate', numbers)),
    make('p', '', boundOf(facts)),
    make('p', 'sv-source', sourceOf(facts)),
  ];
}

/** Models of real size, with random weights: a sentence for each size and device. */
function measured(devices) {
  const rows = devices.map((each) => {
    const [wide, widest] = each.widths.map(([n, ms]) => ({ n, times: decimals(ms / each.step_ms, 1) }));
    const told = t('learn.memory_measured', {
      shape: each.shape,
      device: aboutDevice(each.environment),
      size: decimals(each.gigabytes, 1),
      step: decimals(each.step_ms, each.step_ms < 100 ? 1 : 0),
      rate: decimals(each.gigabytes / (each.step_ms / 1000), 1),
      share: percent(each.share_of_bound),
    });
    const more = wide && widest && t('learn.memory_wide', { n: wide.n, times: wide.times, most: widest.n, longest: widest.times });
    return make('li', '', more ? `${told} ${more}` : told);
  });
  const list = wrap('ul', 'sv-memory-list', ...rows);
  return wrap('div', 'sv-memory', make('b', '', t('learn.memory_devices')), list);
}

function unknown() {
  return [make('p', '', t('learn.memory_unknown'))];
}

// What is said of a step that a lane's wrong rule got wrong, and of what the right rule does there.
import { keyOf } from './names.js';
import { isHarmless } from './wrong_steps.js';
import { visible } from '../page/dom.js';
import { chance, decimals, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Steps of which the right rule's chance of the same token can be told. */
const WITH_CHANCE = new Set(['from_target', 'gap', 'unscaled']);

/**
 * Tell a step: what the lane `did`, what is `right` there, or it in `short`.
 * @param {import('./wrong_steps.js').WrongStep} step
 * @param {'did' | 'right' | 'short'} side
 */
export function tellStep({ kind, about }, side) {
  if (kind === 'picked' && side === 'right') return tellPicked(about);
  const end = side === 'right' && WITH_CHANCE.has(kind) ? kind + knownOf(kind, about) : kind;
  return t(`wrong.${side}_${end}`, valuesOf(about));
}

/** Why no step of a round went wrong, for a lane with a wrong rule. */
export function tellNoStep(place) {
  return t(isHarmless(place) ? 'wrong.none_greedy' : `wrong.none_${keyOf(place.lane.spec.rule)}`);
}

/**
 * How the right rule's chance is told: not at all where q was not recorded, and as never where it is 0.
 * @param {Record<string, any>} about
 */
function knownOf(kind, about) {
  const { right } = about;
  if (right === null) return '_unknown';
  return right === 0 && kind !== 'unscaled' ? '_never' : '';
}

/**
 * For each guess that was judged, the chance it had and the one it ought to have had.
 * @param {Record<string, any>} about
 */
function tellPicked(about) {
  const told = about.judged.map(({ text, accept_prob: had, target_prob: right }) =>
    t('wrong.picked_chance', { token: visible(text), had: finePercent(had), right: finePercent(right) }),
  );
  const chances = told.length ? [t('wrong.picked_chances', { chances: told.join(', ') })] : [];
  return [t('wrong.right_picked'), ...chances].join(' ');
}

/** @param {Record<string, any>} about */
function valuesOf(about) {
  const { n = 0, token, rejected, left = null, share = null, right = null } = about;
  const quoted = (each) => (each ? visible(each.text) : '');
  return {
    n,
    token: quoted(token),
    rejected: quoted(rejected),
    left: chance(left, 2),
    factor: decimals(left ? 1 / left : null, 2),
    share: finePercent(share),
    right: finePercent(right),
  };
}

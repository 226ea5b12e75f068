// What lanes, laws and places are called, in the reader's language; `specviz/trace/names.py` names lanes
// for the command line by the same rules.
import { flippedOf } from './coins.js';
import { language } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** In what lanes of one method can differ, and how that is said. */
const DETAILS = {
  draft: (spec) => shortName(spec.draft ?? '?'),
  head: (spec) => shortName(spec.head ?? '?'),
  head_reading: ({ head_reading: how }) => t('lane.detail_reading', { how: how ?? t('lane.as_stated') }),
  exit_layer: (spec) => t('lane.detail_layer', { layer: spec.exit_layer ?? '?' }),
  max_ngram: (spec) => t('lane.detail_match', { n: spec.max_ngram }),
  gamma: (spec) => `γ ${gammaText(spec)}`,
  flipped_coins: (spec) => (flippedOf(spec).length ? t('lane.flipped', coinValues(flippedOf(spec))) : t('lane.as_fallen')),
  tree: (spec) => treeText(spec),
  translation: ({ translation = null }) => (translation ? t(`lane.detail_${translation}`) : ''),
};

/** Choices of which several fields together are one: alike where they read alike. */
const TEXTS = { gamma: gammaText, tree: treeText };

/** Names that the page itself gives, in English in the trace. */
const GIVEN = { 'before fitting': 'waiting.before', 'after fitting': 'waiting.after' };

/** The name that somebody gave a lane, else what it runs and in what it differs from the others; one with
 * a wrong rule says so, whoever named it. */
export function laneName({ spec, specs, index }) {
  const lane = ownName({ spec, specs, index });
  return isRight(spec) ? lane : t('lane.wrong', { lane, rule: t(`rule.${keyOf(spec.rule)}`) });
}

function ownName({ spec, specs, index }) {
  if (spec.name) return Object.hasOwn(GIVEN, spec.name) ? t(GIVEN[spec.name]) : spec.name;
  const name = methodName(spec.method);
  const alike = specs.filter((other) => other.method === spec.method && ruleOf(other) === ruleOf(spec));
  if (alike.length === 1) return name;
  const parts = Object.keys(DETAILS)
    .filter((field) => new Set(alike.map((other) => choice(other, field))).size > 1)
    .map((field) => DETAILS[field](spec))
    .filter(Boolean);
  const same = alike.filter((other) => choices(other) === choices(spec));
  if (same.length > 1) {
    const before = specs.slice(0, index).filter((other) => choices(other) === choices(spec));
    parts.push(`#${before.length + 1}`);
  }
  return parts.length ? t('lane.with_detail', { lane: name, detail: parts.join(', ') }) : name;
}

/** What a lane is called that is the only one to run this method. */
export function methodName(method) {
  return t(`lane.${keyOf(method)}`);
}

/** What a lane runs, and by which wrong rule if it does; `name` writes a model's name. */
export function aboutLane(spec, name = shortName) {
  const about = aboutMethod(spec, name);
  return isRight(spec) ? about : t('lane.wrong', { lane: about, rule: t(`rule.${keyOf(spec.rule)}`) });
}

function aboutMethod(spec, name) {
  const { method, target, draft, exit_layer: layer } = spec;
  const gamma = isTree(spec) ? `${gammaText(spec)}, ${treeText(spec)}` : gammaText(spec);
  if (method === 'baseline') return t('lane.about_alone', { target: name(target) });
  if (method === 'draft-model') {
    const how = spec.translation ? `_${spec.translation}` : '';
    return t(`lane.about_draft_model${how}`, { draft: name(draft ?? '?'), gamma });
  }
  if (method === 'early-exit' && layer) return t('lane.about_exit_layer', { layer, gamma });
  if (method === 'eagle3') return aboutHead(spec, name(spec.head ?? '?'));
  return t(`lane.about_${keyOf(method)}`, { gamma });
}

/** A head, and how it is read where its files say otherwise or somebody said how. */
function aboutHead(spec, head) {
  const about = t('lane.about_eagle3', { head, gamma: gammaText(spec) });
  return spec.head_reading ? t('lane.with_detail', { lane: about, detail: t('lane.detail_reading', { how: spec.head_reading }) }) : about;
}

/** A draft length, or by what it is chosen and what it is at most. */
export function gammaText({ gamma, schedule = 'fixed', confidence }) {
  if (schedule === 'fixed') return String(gamma);
  return t(`schedule.${schedule}_at_most`, { gamma, confidence });
}

/** How a lane's guesses hang together: a chain, or what tree. */
export function treeText(spec) {
  return isTree(spec) ? t(`tree.${spec.tree}_of`, { branches: spec.branches, budget: spec.budget }) : t('tree.none');
}

/** Whether a lane guesses trees; traces of earlier versions know chains alone. */
export function isTree({ tree = 'none' }) {
  return tree !== 'none';
}

/** A method as a key of texts. */
export function keyOf(method) {
  return method.replaceAll('-', '_');
}

/** Which distribution the tokens are drawn from. */
export function aboutSampling({ temperature, top_k: topK, top_p: topP, seed }) {
  if (temperature === 0) return t('law.greedy');
  const cuts = [topK ? `top-k ${topK}` : '', topP < 1 ? `top-p ${topP}` : ''].filter(Boolean);
  return t('law.sampled', { temperature, cuts: cuts.map((cut) => `, ${cut}`).join(''), seed: String(seed) });
}

/** Where a race ran. */
export function aboutDevice({ device, device_name: name, dtype, num_threads: n }) {
  const place = `${name}, ${dtype}`;
  return device === 'cpu' ? t('lane.place', { place, n }) : place;
}

/** In which form models ran there and why, or nothing where nobody chose. */
export function aboutForm({ form, form_reason: reason }) {
  return reason ? t('form.told', { form: t(`form.${form}`), reason: t(`form.${reason}`) }) : '';
}

/** The lanes, the device and the date of a recorded race, on one line. */
export function aboutRecording({ specs, environment }) {
  const date = writtenDate(environment.recorded_at);
  return [...specs.map((spec) => aboutLane(spec)), aboutDevice(environment), date].join(' · ');
}

/** How much slower than it ran a race is shown, or that it is not. */
export function aboutSpeed(factor) {
  return factor === 1 ? t('status.shown_full') : t('status.shown_slower', { n: factor });
}

/** A model's name where there is little room: that of the hub without its owner. */
export function briefName(model) {
  return model.startsWith('fitted/') ? model : shortName(model).split('/').at(-1);
}

function shortName(model) {
  const isFolder = /^(\/|[A-Za-z]:[\\/])/.test(model);
  return isFolder ? model.split(/[\\/]/).filter(Boolean).at(-1) : model;
}

function choices(spec) {
  return [spec.method, ruleOf(spec), ...Object.keys(DETAILS).map((field) => choice(spec, field))].join(' ');
}

function choice(spec, field) {
  if (field === 'flipped_coins') return flippedOf(spec).join(' ');
  return Object.hasOwn(TEXTS, field) ? TEXTS[field](spec) : (spec[field] ?? null);
}

/** Coins as a text names them: how many, and their numbers from 1 on. */
export function coinValues(coins) {
  return { n: coins.length, coins: coins.map((coin) => coin + 1).join(', ') };
}

/** By which rule a lane keeps drafts; traces of earlier versions know the right one alone. */
function ruleOf({ rule = 'right' }) {
  return rule;
}

/** Whether a lane keeps its guesses by the right rule. */
export function isRight(spec) {
  return ruleOf(spec) === 'right';
}

function writtenDate(date) {
  const day = new Date(date);
  if (Number.isNaN(day.valueOf())) return date;
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(day);
}

/** The lanes of each panel before its first race; the texts are `waiting.KEY`, `waiting.KEY_about` and `waiting.KEY_hint`. */
const WAITING = { race: ['alone', 'guesses'], compare: ['alone', 'before', 'after'] };

/** What a lane is drawn with: `isBaseline`, `name`, `about`, and a `hint` in place of a text. */
export function waitingLanes(panel) {
  return WAITING[panel].map((key) => ({
    isBaseline: key === 'alone',
    name: t(`waiting.${key}`),
    about: t(`waiting.${key}_about`),
    hint: t(`waiting.${key}_hint`),
  }));
}

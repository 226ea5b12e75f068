// What a sweep has found so far, as the server told it: cells by draft, γ and category, and what follows.

import { t } from '../page/strings.js';

/** The category of all prompts together. */
const ALL = 0;

/** Takes the news of one sweep after the other. */
export class SweepResults {
  #cells = new Map();
  #fields = [];
  key = null;
  target = '';
  lanes = [];
  categories = [];
  /** Those categories whose names are texts of the page. */
  ownKinds = [];
  prompts = {};
  models = {};
  tokens = 0;
  numPrompts = 0;
  best = [];
  verdicts = [];
  failures = [];
  prediction = null;
  map = null;
  environment = null;
  numRaces = 0;
  seconds = 0;

  /** Take one piece of news; one with `fields` begins a sweep, or goes on with the one of that `key`. */
  take(news) {
    if (news.fields) this.#begin(news);
    if (!news.best) return;
    for (const row of news.cells) this.#keep(row);
    this.best = news.best;
    this.verdicts = news.verdicts;
    this.failures = news.failures;
    this.prediction = news.prediction;
    this.map = news.map;
    this.environment = news.environment;
    this.numRaces = news.num_races;
    this.numPrompts = news.num_prompts;
    this.seconds = news.seconds;
  }

  /** Whether nothing was measured yet. */
  get isEmpty() {
    return !this.best.length;
  }

  /** The best of each draft, the fastest first, each with its `lane`, `cell` over all prompts and `verdict`. */
  get leaders() {
    return this.best
      .map((best) => ({
        ...best,
        lane: this.lanes.find(({ draft }) => draft === best.draft),
        cell: this.cell(best.draft, best.gamma),
        verdict: this.verdicts.find(({ draft }) => draft === best.draft),
        index: this.lanes.findIndex(({ draft }) => draft === best.draft),
      }))
      .sort((one, other) => other.speedup - one.speedup);
  }

  /** A draft at one γ, on one category or on all prompts; undefined where it was not raced. */
  cell(draft, gamma, category = this.categories[ALL]) {
    const index = this.lanes.findIndex((lane) => lane.draft === draft);
    return this.#cells.get(`${index} ${gamma} ${this.categories.indexOf(category)}`);
  }

  /** A draft over all prompts at every γ that was raced. */
  cellsOf({ draft, gammas }) {
    return gammas.map((gamma) => this.cell(draft, gamma)).filter((cell) => cell?.speedup);
  }

  /** Bytes of the target and of the draft beside it, 0 where there is none; null where one is not known. */
  memoryOf({ spec }) {
    const target = this.models[this.target]?.weights_bytes ?? null;
    const draft = spec.draft ? (this.models[spec.draft]?.weights_bytes ?? null) : 0;
    return target === null || draft === null ? null : { target, draft };
  }

  #begin(news) {
    const isSame = news.key !== undefined && news.key === this.key;
    this.key = news.key ?? null;
    this.#fields = news.fields;
    this.target = news.target;
    this.lanes = news.lanes;
    this.categories = news.categories;
    this.ownKinds = news.own_kinds ?? [];
    this.prompts = news.prompts;
    this.models = news.models;
    this.tokens = news.tokens;
    if (isSame) return;
    this.#cells.clear();
    this.best = this.verdicts = this.failures = [];
    this.prediction = this.map = this.environment = null;
    this.numRaces = this.numPrompts = this.seconds = 0;
  }

  #keep(row) {
    const cell = Object.fromEntries(this.#fields.map((name, index) => [name, row[index]]));
    this.#cells.set(`${cell.draft} ${cell.gamma} ${cell.category}`, cell);
  }
}

/** What a reader is told of a category: a visitor's own ones stay as they are written. */
export function kindName({ ownKinds }, category) {
  return ownKinds.includes(category) ? t(`kind.${category}`) : category;
}

/** The settings of a race of one cell: its draft at its γ, on the first prompt of its category. */
export function raceOf(results, { lane, gamma }, category) {
  const { method, ...rest } = lane.spec;
  const own = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return {
    prompt: results.prompts[category],
    temperature: lane.temperature,
    top_k: 0,
    top_p: 1,
    tokens: results.tokens,
    target: results.target,
    lanes: [{ method, ...own, gamma }],
  };
}

// What fitting a draft to its target brought: numbers, a chart of the held-out prompts, the command.
import { onBusyChange } from '../model/panels.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { decimals, percent, plain } from '../page/numbers.js';
import { sentence, t, translate } from '../page/strings.js';
import { FitChart, shortened } from './fit_chart.js';
import { mountFit } from './fit_view.js';

const LONGEST_LABEL = 64;
/** Gradio's own button, below the numbers. */
const RACE = 'sv-compare';
const COLUMNS = ['number', 'prompt', 'before', 'after', 'tokens'];

/** Draw the fitted drafts; `choose("F:P")` is called with the draft and the prompt that are chosen. */
export function mountFitted(container, data, choose) {
  for (const problem of data.problems) {
    container.append(make('p', 'sv-note', sentence(t('fit.left_out', { problem }))));
  }
  const choice = new FittedChoice(data, choose);
  if (data.limits) mountFit(container, data, { made: (...news) => choice.add(...news), race: (draft) => choice.race(draft) });
  container.append(choice.element);
}

/** One of the fitted drafts and one of its held-out prompts, with all that is known of both. */
class FittedChoice {
  #drafts;
  #choose;
  #report;
  #draft = picker(t('fit.choose_draft'));
  #prompt = picker(t('fit.choose_prompt'));
  #empty;
  #shown;

  constructor(data, choose) {
    this.#drafts = [...data.drafts];
    this.#choose = choose;
    this.#report = new Report(data);
    this.#empty = wrap('div', 'sv-fit-none', make('p', 'sv-lead', t('fit.empty')), boxed(make('code', '', data.command)));
    const meaning = make('p', 'sv-lead', t('fit.meaning'));
    this.#shown = wrap('div', 'sv-fit-shown', meaning, this.#draft.label, this.#report.element, this.#prompt.label);
    this.element = wrap('div', 'sv-fit-choice', this.#empty, this.#shown);
    this.#draft.select.append(...this.#drafts.map((draft) => make('option', '', draft.name)));
    this.#draft.select.addEventListener('change', () => this.#show());
    this.#prompt.select.addEventListener('change', () => this.#pick());
    this.#show();
  }

  /** One more was fitted; a new one is shown at once. */
  add(draft, isNew) {
    this.#drafts.push(draft);
    this.#draft.select.append(make('option', '', draft.name));
    if (isNew || this.#drafts.length === 1) this.#draft.select.selectedIndex = this.#drafts.length - 1;
    this.#show();
  }

  /** Race a draft, before and after it was fitted. */
  race(draft) {
    this.#draft.select.selectedIndex = this.#drafts.findIndex(({ name }) => name === draft.name);
    this.#show();
    raceIt();
  }

  #show() {
    const draft = this.#drafts[this.#draft.select.selectedIndex];
    this.#empty.hidden = draft !== undefined;
    this.#shown.hidden = draft === undefined;
    // Gradio's own controls and the race below have nothing to race as long as there is no draft.
    document.documentElement.dataset.fits = draft ? 'some' : 'none';
    if (!draft) return;
    const rows = rowsOf(draft.fit);
    this.#draft.label.hidden = this.#drafts.length < 2;
    this.#report.show(draft, rows);
    this.#prompt.select.replaceChildren(...rows.map(promptOption));
    this.#prompt.label.hidden = !rows.length;
    this.#pick();
  }

  #pick() {
    const { index } = this.#drafts[this.#draft.select.selectedIndex];
    this.#choose(`${index}:${this.#prompt.select.value || 0}`);
  }
}

/** The held-out prompts, the best fitted first, each with its `index` in the fit and its `number` here. */
export function rowsOf({ held_out: prompts }) {
  return prompts
    .map((prompt, index) => ({ ...prompt, index }))
    .sort((one, other) => other.alpha_after - one.alpha_after)
    .map((row, index) => ({ ...row, number: index + 1 }));
}

/** Each number before and after fitting, as texts, with the counts behind it. */
export function figuresOf({ fit: { before, after }, expected_tokens: lengths }, gamma) {
  const ofAlpha = { points: points(after.alpha - before.alpha), tokens: after.num_tokens };
  const counts = { before: before.num_tokens, after: after.num_tokens };
  const isAlike = counts.before === counts.after;
  return [
    {
      label: t('fit.alpha'),
      values: [percent(before.alpha), percent(after.alpha)],
      detail: t(isAlike ? 'fit.alpha_detail' : 'fit.alpha_detail_apart', { ...ofAlpha, ...counts }),
    },
    {
      label: t('fit.greedy'),
      values: [percent(before.greedy), percent(after.greedy)],
      detail: t('fit.greedy_detail', { points: points(after.greedy - before.greedy) }),
    },
    {
      label: t('fit.length', { gamma }),
      values: lengths.map((tokens) => decimals(tokens, 2)),
      detail: t('fit.length_detail'),
    },
  ];
}

/** What was learned from, for how long, and what was measured on, as a sentence. */
export function factsOf(fit) {
  const [minutes, seconds] = [Math.floor(Math.round(fit.seconds) / 60), Math.round(fit.seconds) % 60];
  return t('fit.facts', {
    learned: fit.num_prompts - fit.num_held_out,
    prompts: fit.num_prompts,
    time: t(minutes ? 'fit.minutes' : 'fit.seconds', { minutes, seconds }),
    written: fit.num_tokens_written,
    trained: fit.num_tokens_trained,
    n: fit.num_held_out,
  });
}

/** All that is known of one fitted draft. */
class Report {
  #gamma;
  #title = make('h2');
  #figures = make('dl', 'sv-figures sv-fit-figures');
  #facts = make('p', 'sv-facts');
  #note = make('p', 'sv-note');
  #command = make('code');
  #table = make('tbody');
  #chart;

  constructor({ gamma, plotly }) {
    this.#gamma = gamma;
    const made = make('p', 'sv-facts', t('fit.made_by'));
    const race = makeButton(t('fit.race'), raceIt, 'sv-button is-main');
    onBusyChange((isBusy) => setEnabled(race, !isBusy));
    const numbers = [this.#title, this.#figures, wrap('p', '', race), this.#note, this.#facts, made, boxed(this.#command)];
    const plot = make('div', 'sv-fit-plot', '', { role: 'figure', 'aria-label': t('fit.chart_about') });
    const figure = wrap('figure', 'sv-chart', make('figcaption', '', t('fit.chart')), plot, this.#details());
    this.element = wrap('div', 'sv-fit', wrap('div', 'sv-fit-numbers', ...numbers), figure);
    this.#chart = new FitChart(plot, plotly);
  }

  show(draft, rows) {
    const { fit } = draft;
    setText(this.#title, t('fit.title', { before: fit.draft_before ?? t('fit.new_draft'), after: draft.name }));
    this.#figures.replaceChildren(...figuresOf(draft, this.#gamma).map(tile));
    setText(this.#facts, factsOf(fit));
    setText(this.#note, translate(draft.note ?? ''));
    setText(this.#command, fit.made_by);
    this.#table.replaceChildren(...rows.map(tableRow));
    this.#chart.show(rows);
  }

  #details() {
    const titles = COLUMNS.map((name) => make('th', '', t(`fit.column_${name}`), { scope: 'col' }));
    const caption = make('caption', 'sv-spoken', t('fit.table_about'));
    const table = wrap('table', '', caption, wrap('thead', '', wrap('tr', '', ...titles)), this.#table);
    const region = { tabindex: '0', role: 'region', 'aria-label': t('fit.table_about') };
    const scroller = make('div', 'sv-scroll', '', region);
    scroller.append(table);
    return wrap('details', 'sv-fit-table', make('summary', '', t('fit.table')), scroller);
  }
}

/** Gradio takes what was chosen over before it hears of the click. */
function raceIt() {
  setTimeout(() => document.getElementById(RACE)?.click());
}

function tile({ label, values: [before, after], detail }) {
  const value = wrap(
    'dd',
    'sv-value',
    make('span', 'sv-was', before),
    make('span', 'sv-arrow', ' → '),
    make('span', '', after),
  );
  return wrap('div', 'sv-figure', make('dt', '', label), value, make('dd', 'sv-detail', detail));
}

function tableRow(row) {
  const texts = [percent(row.alpha_before, 1), percent(row.alpha_after, 1), plain(row.num_tokens)];
  return wrap(
    'tr',
    '',
    make('td', '', plain(row.number)),
    make('td', 'sv-cell-prompt', row.prompt),
    ...texts.map((text) => make('td', '', text)),
  );
}

function picker(text) {
  const select = make('select');
  return { label: wrap('label', 'sv-picker', make('span', '', text), select), select };
}

function promptOption({ number, index, prompt }) {
  const text = t('fit.option', { number, prompt: shortened(prompt, LONGEST_LABEL) });
  return make('option', '', text, { value: index });
}

/** A gain in percentage points, with its sign. */
function points(gain) {
  return `${gain < 0 ? '−' : '+'}${decimals(Math.abs(100 * gain), 0)}`;
}

function boxed(code) {
  const box = make('pre', 'sv-command', '', { tabindex: '0' });
  box.append(code);
  return box;
}

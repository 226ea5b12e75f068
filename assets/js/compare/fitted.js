// What fitting a draft to its target brought: numbers, a chart of the held-out prompts, the command.
import { make, setText } from '../core/dom.js';
import { FitChart } from './fit_chart.js';
import { t, tell } from '../core/strings.js';

const LONGEST_LABEL = 64;
const COLUMNS = ['number', 'prompt', 'before', 'after', 'tokens'];

/** Draw the fitted drafts; `choose("F:P")` is called with the draft and the prompt that are chosen. */
export function mountFitted(place, data, choose) {
  for (const problem of data.problems) {
    place.append(make('p', 'sv-note', t('fit.left_out', { problem })));
  }
  if (!data.drafts.length) {
    place.append(make('p', 'sv-lead', t('fit.empty')), commandBox(data.command));
    return;
  }
  const report = new Report(data.plotly);
  const drafts = picker(t('fit.choose_draft'), data.drafts.map((draft) => draft.name));
  const prompts = picker(t('fit.choose_prompt'), []);
  drafts.label.hidden = data.drafts.length < 2;
  place.append(make('p', 'sv-lead', t('fit.meaning')), drafts.label, report.element, prompts.label);

  const pick = () => choose(`${drafts.select.selectedIndex}:${prompts.select.value || 0}`);
  const show = () => {
    const draft = data.drafts[drafts.select.selectedIndex];
    report.show(draft);
    prompts.select.replaceChildren(...draft.rows.map(promptOption));
    prompts.label.hidden = !draft.rows.length;
    pick();
  };
  drafts.select.addEventListener('change', show);
  prompts.select.addEventListener('change', pick);
  show();
}

/** All that is known of one fitted draft. */
class Report {
  #title = make('h2');
  #figures = make('dl', 'sv-figures sv-fit-figures');
  #facts = make('p', 'sv-facts');
  #note = make('p', 'sv-note');
  #command = make('code');
  #table = make('tbody');
  #chart;

  constructor(plotlyAddress) {
    const numbers = make('div', 'sv-fit-numbers');
    const made = make('p', 'sv-facts', t('fit.made_by'));
    numbers.append(this.#title, this.#figures, this.#note, this.#facts, made, boxed(this.#command));
    const plot = make('div', 'sv-fit-plot', '', { role: 'figure', 'aria-label': t('fit.chart_about') });
    const figure = make('figure', 'sv-chart');
    figure.append(make('figcaption', '', t('fit.chart')), plot, this.#details());
    this.element = make('div', 'sv-fit');
    this.element.append(numbers, figure);
    this.#chart = new FitChart(plot, plotlyAddress);
  }

  show(draft) {
    setText(this.#title, t('fit.title', { before: draft.from, after: draft.name }));
    this.#figures.replaceChildren(...draft.figures.map(tile));
    setText(this.#facts, tell(draft.facts));
    setText(this.#note, draft.note ? tell(draft.note) : '');
    setText(this.#command, draft.made_by);
    this.#table.replaceChildren(...draft.rows.map(tableRow));
    this.#chart.show(draft.rows);
  }

  #details() {
    const details = make('details', 'sv-fit-table');
    const table = make('table');
    const head = make('tr');
    head.append(
      ...COLUMNS.map((name) => make('th', '', t(`fit.column_${name}`), { scope: 'col' })),
    );
    const caption = make('caption', 'sv-spoken', t('fit.table_about'));
    const top = make('thead');
    top.append(head);
    table.append(caption, top, this.#table);
    const region = { tabindex: '0', role: 'region', 'aria-label': t('fit.table_about') };
    const scroller = make('div', 'sv-scroll', '', region);
    scroller.append(table);
    details.append(make('summary', '', t('fit.table')), scroller);
    return details;
  }
}

function tile(figure) {
  const element = make('div', 'sv-figure');
  const value = make('dd', 'sv-value');
  const arrow = make('span', 'sv-arrow', ' → ');
  value.append(make('span', 'sv-was', figure.before), arrow, make('span', '', figure.after));
  element.append(make('dt', '', tell(figure.label)), value, make('dd', 'sv-detail', tell(figure.detail)));
  return element;
}

function tableRow(row) {
  const element = make('tr');
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  element.append(
    make('td', '', String(row.number)),
    make('td', 'sv-cell-prompt', row.prompt),
    make('td', '', percent(row.before)),
    make('td', '', percent(row.after)),
    make('td', '', String(row.tokens)),
  );
  return element;
}

function picker(text, names) {
  const label = make('label', 'sv-picker');
  const select = make('select');
  select.append(...names.map((name) => make('option', '', name)));
  label.append(make('span', '', text), select);
  return { label, select };
}

function promptOption(row) {
  const flat = row.prompt.replaceAll(/\s+/g, ' ').trim();
  const short = flat.length > LONGEST_LABEL ? `${flat.slice(0, LONGEST_LABEL)}…` : flat;
  const text = t('fit.option', { number: row.number, prompt: short });
  return make('option', '', text, { value: row.index });
}

function commandBox(command) {
  return boxed(make('code', '', command));
}

function boxed(code) {
  const box = make('pre', 'sv-command', '', { tabindex: '0' });
  box.append(code);
  return box;
}

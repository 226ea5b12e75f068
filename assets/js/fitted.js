// What fitting a draft to its target brought: numbers, a chart of the held-out prompts, the command.
import { make, setText } from './dom.js';
import { FitChart } from './fit_chart.js';

const MEANING =
  'α is the chance that the target keeps a guessed token: the mean of Σ min(p, q) over the tokens that ' +
  'the target writes at temperature 1.';
const EMPTY =
  'No fitted draft is here yet: this command trains a draft on what the target itself writes after ' +
  'your prompts, so that more of its guesses are kept; start the page again to see it here.';
const LONGEST_LABEL = 64;

/** Draw the fitted drafts; `choose("F:P")` is called with the draft and the prompt that are chosen. */
export function mountFitted(place, data, choose) {
  for (const problem of data.problems) {
    place.append(make('p', 'sv-note', `Left out: ${problem}`));
  }
  if (!data.drafts.length) {
    place.append(make('p', 'sv-lead', EMPTY), commandBox(data.command));
    return;
  }
  const report = new Report(data.plotly);
  const drafts = picker('Fitted draft', data.drafts.map((draft) => draft.name));
  const prompts = picker('Held-out prompt to race', []);
  drafts.label.hidden = data.drafts.length < 2;
  place.append(make('p', 'sv-lead', MEANING), drafts.label, report.element, prompts.label);

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
    const made = make('p', 'sv-facts', 'Made by');
    numbers.append(this.#title, this.#figures, this.#note, this.#facts, made, boxed(this.#command));
    const about = 'Alpha of each held-out prompt before and after fitting; the table holds the numbers';
    const plot = make('div', 'sv-fit-plot', '', { role: 'img', 'aria-label': about });
    const figure = make('figure', 'sv-chart');
    figure.append(make('figcaption', '', 'α of each held-out prompt'), plot, this.#details());
    this.element = make('div', 'sv-fit');
    this.element.append(numbers, figure);
    this.#chart = new FitChart(plot, plotlyAddress);
  }

  show(draft) {
    setText(this.#title, `${draft.from} → ${draft.name}`);
    this.#figures.replaceChildren(...draft.figures.map(tile));
    setText(this.#facts, draft.facts);
    setText(this.#note, draft.note ?? '');
    setText(this.#command, draft.made_by);
    this.#table.replaceChildren(...draft.rows.map(tableRow));
    this.#chart.show(draft.rows);
  }

  #details() {
    const details = make('details', 'sv-fit-table');
    const table = make('table');
    const head = make('tr');
    head.append(
      ...['#', 'prompt', 'before', 'after', 'tokens'].map((text) => make('th', '', text, { scope: 'col' })),
    );
    const caption = make('caption', 'sv-spoken', 'Alpha of each held-out prompt before and after fitting');
    const top = make('thead');
    top.append(head);
    table.append(caption, top, this.#table);
    const scroller = make('div', 'sv-scroll', '', { tabindex: '0', role: 'region', 'aria-label': 'Table' });
    scroller.append(table);
    details.append(make('summary', '', 'The same as a table, with the whole prompts'), scroller);
    return details;
  }
}

function tile(figure) {
  const element = make('div', 'sv-figure');
  const value = make('dd', 'sv-value');
  const arrow = make('span', 'sv-arrow', ' → ');
  value.append(make('span', 'sv-was', figure.before), arrow, make('span', '', figure.after));
  element.append(make('dt', '', figure.label), value, make('dd', 'sv-detail', figure.detail));
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
  return make('option', '', `${row.number} · ${short}`, { value: row.index });
}

function commandBox(command) {
  return boxed(make('code', '', command));
}

function boxed(code) {
  const box = make('pre', 'sv-command', '', { tabindex: '0' });
  box.append(code);
  return box;
}

// What a pass of this page's target costs, measured on request: over more tokens, and for more texts at once.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { decimals, plain } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { Task } from '../wire/tasks.js';

/** Tokens of the check that is told in words: four guesses and one more place. */
const TOLD_TOKENS = 8;

/** Draw the button and what was measured for `target`. */
export function makeOwnCosts(target) {
  let news = [];
  const start = makeButton(t('learn.costs_start'), () => {
    news = [];
    task.start({ target });
  });
  const said = make('p', '', '', { role: 'status' });
  const passes = new CostTable('costs_passes', ['costs_tokens', 'costs_ms', 'costs_of_one', 'costs_each']);
  const batches = new CostTable('costs_batches', ['costs_texts', 'costs_step', 'costs_check', 'costs_v']);
  const task = new Task('costs', {
    onNews: (items) => {
      news.push(...items);
      show();
    },
    onState: show,
  });

  function show() {
    setEnabled(start, !task.isBusy);
    passes.show(passRows(news));
    batches.show(batchRows(news));
    setText(said, task.isBusy ? t('learn.costs_running') : told(news, task));
  }

  const parts = [make('b', '', t('learn.costs_title', { target })), make('p', '', t('learn.costs_about'))];
  show();
  return wrap('div', 'sv-memory sv-costs', ...parts, wrap('p', '', start), passes.element, batches.element, said);
}

/** Rows of tokens, milliseconds, times the pass over one, and milliseconds for each token. */
export function passRows(news) {
  const rows = news.filter(({ kind }) => kind === 'pass');
  return rows.map(({ tokens, ms }) => [plain(tokens), time(ms), factor(ms / rows[0].ms), time(ms / tokens)]);
}

/** Rows of texts at once, a plain step, the check of four guesses, and the check in steps. */
export function batchRows(news) {
  const rows = news.filter(({ kind }) => kind === 'batch');
  const texts = [...new Set(rows.map((row) => row.texts))];
  return texts.flatMap((number) => {
    const [step, check] = rows.filter((row) => row.texts === number).sort((one, other) => one.tokens - other.tokens);
    return check ? [[plain(number), time(step.ms), time(check.ms), factor(check.ms / step.ms)]] : [];
  });
}

/** What the numbers say, once they are there. */
function told(news, { state, text }) {
  if (state === 'error') return sentence(text);
  const passes = news.filter(({ kind }) => kind === 'pass');
  const some = passes.find(({ tokens }) => tokens === TOLD_TOKENS);
  if (!some) return '';
  const [one, most] = [passes[0], passes.at(-1)];
  const times = { times: decimals(some.ms / one.ms, 1), longest: decimals(most.ms / one.ms, 1) };
  return t('learn.costs_told', { n: some.tokens, most: most.tokens, ...times });
}

class CostTable {
  #body = make('tbody');

  constructor(caption, columns) {
    const titles = columns.map((name) => make('th', '', t(`learn.${name}`), { scope: 'col' }));
    const head = wrap('thead', '', wrap('tr', '', ...titles));
    this.element = wrap('table', 'sv-cost-table', make('caption', '', t(`learn.${caption}`)), head, this.#body);
  }

  show(rows) {
    this.element.hidden = !rows.length;
    const cells = (row) => row.map((text) => make('td', '', text));
    this.#body.replaceChildren(...rows.map((row) => wrap('tr', '', ...cells(row))));
  }
}

function time(ms) {
  return t('clock.milliseconds', { number: decimals(ms, ms < 100 ? 1 : 0) });
}

function factor(number) {
  return `${decimals(number, 1)}×`;
}

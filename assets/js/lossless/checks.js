// The table of a proof's statistical tests, folded away: who wants the numbers opens it.
import { keyOf } from '../model/names.js';
import { make, wrap } from '../page/dom.js';
import { decimals, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Below it a p-value is next to nothing. */
const LEAST = 0.001;
const COLUMNS = ['test', 'statistic', 'degrees', 'p_value'];

/** The table around the rows of `body`. */
export function checksTable(body) {
  const titles = COLUMNS.map((name) => make('th', '', t(`proof.column_${name}`), { scope: 'col' }));
  const caption = make('caption', 'sv-spoken', t('proof.checks'));
  const table = wrap('table', '', caption, wrap('thead', '', wrap('tr', '', ...titles)), body);
  const scroller = make('div', 'sv-scroll', '', { tabindex: '0', role: 'region', 'aria-label': t('proof.checks') });
  scroller.append(table);
  const about = make('p', 'sv-proof-note', t('proof.checks_about'));
  return wrap('details', 'sv-proof-checks', make('summary', '', t('proof.checks')), about, scroller);
}

/** One test, as the server gives it. */
export function checkRow({ name, statistic, degrees, p_value: p }) {
  const texts = [decimals(statistic, 1), plain(degrees), p < LEAST ? pValue(p) : written(p)];
  const title = make('th', '', t(`proof.check_${keyOf(name)}`), { scope: 'row' });
  return wrap('tr', '', title, ...texts.map((text) => make('td', '', text)));
}

/** A p-value with its sign, "= 0.03"; what is next to nothing is not written out: "< 0.001". */
export function pValue(p) {
  return p < LEAST ? `<\u00a0${decimals(LEAST, 3)}` : `=\u00a0${written(p)}`;
}

function written(p) {
  return decimals(p, p < 0.1 ? 3 : 2);
}

// The table of a proof's statistical tests, folded away: who wants the numbers opens it.
import { keyOf } from '../model/names.js';
import { make, wrap } from '../page/dom.js';
import { decimals, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

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
  const texts = [decimals(statistic, 1), plain(degrees), pValue(p)];
  const title = make('th', '', t(`proof.check_${keyOf(name)}`), { scope: 'row' });
  return wrap('tr', '', title, ...texts.map((text) => make('td', '', text)));
}

/** A p-value; what is next to nothing is not written out. */
export function pValue(p) {
  return p < 0.001 ? `<\u00a0${decimals(0.001, 3)}` : decimals(p, p < 0.1 ? 3 : 2);
}

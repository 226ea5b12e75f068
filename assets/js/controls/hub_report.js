// What was found of a pair before its download: one sentence each, with a mark that says what it means.
import { make, wrap } from '../page/dom.js';
import { t, translate } from '../page/strings.js';

const MARKS = { ok: '✓', warn: '!', refuse: '✗' };

/** The report as elements; a pair that cannot be raced says so at its end. */
export function reportOf(target, { findings, pair }) {
  const list = make('ul', 'sv-hub-findings');
  list.append(...findings.map(finding));
  const title = make('h3', '', t('hub.report', { target }));
  return pair ? [title, list] : [title, list, make('p', 'sv-hub-refused', t('hub.refused'))];
}

function finding({ level, text }) {
  const mark = make('b', 'sv-hub-mark', MARKS[level], { 'aria-hidden': 'true' });
  const spoken = make('span', 'sv-spoken', `${t(`hub.level_${level}`)}: `);
  return wrap('li', `is-${level}`, mark, spoken, make('span', '', translate(text)));
}

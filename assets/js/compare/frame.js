// The two views of Compare, of which one is seen: which draft is worth it, and what fitting one brings.
import { make, wrap } from '../page/dom.js';
import { VISIT, remember, remembered } from '../page/memory.js';
import { t } from '../page/strings.js';

const KEY = 'specviz-compare';
const VIEWS = ['sweep', 'fit'];

/** Draw the choice above both views, with the one that this visit looked at last. */
export function mountCompare(container) {
  const inputs = VIEWS.map((value) => make('input', '', '', { type: 'radio', name: 'sv-compare-view', value }));
  const segments = inputs.map((input) => {
    input.addEventListener('change', () => show(input.value, inputs));
    return wrap('label', 'sv-segment', input, make('span', '', t(`compare.view_${input.value}`)));
  });
  const legend = make('legend', 'sv-spoken', t('compare.views'));
  container.append(wrap('fieldset', 'sv-compare-views', legend, wrap('div', 'sv-segments', ...segments)));
  show(VIEWS.find((view) => view === remembered(KEY, VISIT)) ?? VIEWS[0], inputs);
}

function show(view, inputs) {
  for (const input of inputs) input.checked = input.value === view;
  document.getElementById('sv-tab-compare').dataset.view = view;
  remember(KEY, view, VISIT);
}

// "Fit a draft while you watch": the form, the fit as it goes on, and what becomes of its draft.
import { offerPair } from '../controls/menu.js';
import { make, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { ask } from '../wire/server.js';
import { Task } from '../wire/tasks.js';
import { FitForm } from './fit_form.js';
import { FitLive } from './fit_live.js';
import { noNews, withNews } from './fit_news.js';

/**
 * Draw it; `made(draft, isNew)` is called with every draft that was fitted since the page's server was
 * started, `race(draft)` when one is to be raced.
 */
export function mountFit(container, data, { made, race }) {
  let fit = noNews();
  const known = new Set();
  const form = new FitForm(data, (values) => {
    fit = noNews();
    task.start(values);
  });
  const live = new FitLive(data.plotly, { stop: () => task.stop(), race: ({ draft }) => race(draft) });
  const task = new Task('fit', { onNews, onState: show });

  /** Put a draft on the menus, once. */
  function offer({ draft, pair }, isNew) {
    if (known.has(draft.name)) return;
    known.add(draft.name);
    if (pair) offerPair(pair);
    if (pair) form.offer(pair);
    made(draft, isNew);
  }

  function onNews(items) {
    for (const item of items) fit = withNews(fit, item);
    if (fit.made) offer(fit.made, true);
    show();
  }

  function show() {
    form.hold(task.isBusy);
    live.show(fit, task);
  }

  const head = make('h2', 'sv-fit-title', t('fitting.title'));
  const note = make('p', 'sv-facts', t('fitting.note'));
  const body = wrap('div', 'sv-fit-do', form.element, live.element);
  container.append(wrap('section', 'sv-fit-part', head, make('p', 'sv-lead', t('fitting.about')), body, note));
  show();
  restore();

  async function restore() {
    const { fits = [] } = await ask('fits_made', 0);
    for (const each of fits) offer(each, false);
    task.restore();
  }
}

// The tab Lossless: what to prove is chosen, the bars converge while it is drawn, and a verdict ends it.
import { raceLive } from '../race/race_live.js';
import { onBusyChange } from '../model/panels.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { sentence, t } from '../page/strings.js';
import { Task } from '../wire/tasks.js';
import { ProofForm } from './proof_form.js';
import { ProofReport } from './proof_report.js';
import { settingsOfWrongRace } from './wrong_race.js';

/** Draw the tab; `data` has the examples, the menu of lanes and how many draws there may be. */
export function mountLossless(container, data) {
  const form = new ProofForm(data);
  const report = new ProofReport();
  const problem = make('p', 'sv-refusal', '', { role: 'alert', hidden: '' });
  const start = makeButton(t('proof.start'), () => task.start(form.value), 'sv-button is-main sv-proof-start');
  const stop = makeButton(t('proof.stop'), () => task.stop(), 'sv-button');
  const race = makeButton(t('proof.race'), () => raceLive(settingsOfWrongRace(form.value)), 'sv-button');
  const task = new Task('proof', {
    onNews: (items) => report.take(items),
    onState: ({ state, text, isBusy }) => {
      if (state === 'starting') report.clear();
      report.follow(state);
      setEnabled(start, !isBusy);
      setEnabled(stop, isBusy);
      setText(problem, text === null ? '' : sentence(text));
      problem.hidden = text === null;
    },
  });
  setEnabled(stop, false);
  onBusyChange((isBusy) => setEnabled(race, !isBusy));
  const buttons = wrap('div', 'sv-proof-buttons', start, stop);
  const wrong = wrap('p', 'sv-proof-wrong', race, make('span', '', t('proof.race_about')));
  const ask = wrap('div', 'sv-proof-ask', form.element, buttons, problem, wrong);
  container.append(head(), wrap('div', 'sv-proof', ask, report.element));
  task.restore();
}

function head() {
  return wrap('header', 'sv-learn-head', make('h2', '', t('proof.title')), make('p', '', t('proof.lead')));
}

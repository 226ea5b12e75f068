// "Which draft?": measures ways to guess beside the target alone, and shows what came out, live.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { language, times } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { Task } from '../wire/tasks.js';
import { ChartBox } from './chart_box.js';
import { SWEEP_CHARTS } from './charts.js';
import { SweepFiles } from './files.js';
import { SweepForm } from './form.js';
import { HeatMap } from './heat_map.js';
import { Leaders } from './leaders.js';
import { readSweepLink, sweepLinkOf } from './link.js';
import { SweepResults } from './results.js';

const SHOWN_MS = 2500;

/** Draw form and results; before anything was measured here, those of the recorded sweep. */
export function mountSweep(container, data) {
  const sweep = new Sweep(data);
  container.append(...sweep.elements);
  void sweep.begin();
}

class Sweep {
  #data;
  #results = new SweepResults();
  /** Where the results are from: `recorded`, `live`, `opened`, or null before there are any. */
  #origin = null;
  #progress = null;
  #task = new Task('sweep', { onNews: (news) => this.#take(news), onState: () => this.#tell() });
  #form;
  #start = makeButton(t('sweep_page.start'), () => this.#go(this.#form.values), 'sv-button is-main sv-sweep-start');
  #stop = makeButton(t('sweep_page.stop'), () => this.#task.stop());
  #goOn = makeButton(t('sweep_page.go_on'), () => this.#go({ go_on: this.#results.key, minutes: this.#form.minutes }));
  #copy = makeButton(t('sweep_page.copy'), () => this.#copyLink());
  #link = make('input', 'sv-link-field', '', { readonly: '', 'aria-label': t('sweep_page.copy'), hidden: '' });
  #status = make('p', 'sv-sweep-status', '', { role: 'status' });
  #bar = make('progress', 'sv-loading', '', { 'aria-label': t('sweep_page.progress'), max: '1' });
  #left = make('p', 'sv-facts');
  #refusal = make('p', 'sv-refusal', '', { role: 'alert' });
  #answer = make('p', 'sv-sweep-answer');
  #place = make('p', 'sv-facts');
  #badge = make('span', 'sv-badge sv-recorded', t('sweep_page.recorded'));
  #failures = make('ul', 'sv-sweep-failures');
  #leaders = new Leaders();
  #heat = new HeatMap();
  #charts;
  #files;
  #shown;

  constructor(data) {
    this.#data = data;
    this.#form = new SweepForm(data, () => this.#tell());
    this.#charts = SWEEP_CHARTS.map((chart) => new ChartBox(chart, data.plotly));
    this.#files = new SweepFiles((news) => this.#showFile(news), (text) => this.#refuse(text));
    const charts = wrap('div', 'sv-charts sv-sweep-charts', ...this.#charts.map(({ element }) => element));
    const top = wrap('div', 'sv-sweep-answer-box', wrap('div', 'sv-sweep-line', this.#badge, this.#place), this.#answer);
    this.#shown = wrap('div', 'sv-sweep-results', top, this.#leaders.element, this.#heat.element, charts, this.#failures);
    this.#tell();
  }

  get elements() {
    const buttons = wrap('div', 'sv-sweep-buttons', this.#start, this.#stop, this.#goOn, this.#copy, this.#files.element);
    const lead = make('p', 'sv-lead', t('sweep_page.lead'));
    const card = wrap('div', 'sv-sweep-card sv-sweep-ask', lead, this.#form.element, buttons, this.#link);
    card.append(this.#status, this.#bar, this.#left, this.#refusal);
    return [card, this.#shown];
  }

  /** Take what an address or this visit asks for, and else show the recorded sweep. */
  async begin() {
    const wished = readSweepLink(window.location.search);
    if (wished) this.#form.wish(wished);
    void this.#task.restore();
    if (!this.#data.recorded) return;
    const root = window.gradio_config?.root ?? '';
    const response = await fetch(root + this.#data.recorded);
    if (response.ok && this.#origin === null) this.#show(await response.json(), 'recorded');
  }

  #go(form) {
    setText(this.#refusal, '');
    this.#progress = null;
    void this.#task.start(form);
  }

  #take(items) {
    for (const news of items) {
      this.#results.take(news);
      if (news.done !== undefined) this.#progress = news;
    }
    this.#origin = 'live';
    this.#draw();
  }

  #showFile(news) {
    if (this.#task.isBusy) return;
    this.#progress = null;
    this.#show(news, 'opened');
  }

  #show(news, origin) {
    this.#results.take(news);
    this.#origin = origin;
    this.#draw();
  }

  #draw() {
    const results = this.#results;
    this.#tell();
    this.#shown.hidden = results.isEmpty;
    if (results.isEmpty) return;
    this.#leaders.show(results);
    this.#heat.show(results);
    for (const chart of this.#charts) chart.show(results);
    const failures = results.failures.map((text) => make('li', '', t('sweep_page.failed', { text })));
    this.#failures.replaceChildren(...failures);
  }

  #showAnswer() {
    const isLive = this.#task.isBusy && this.#origin === 'live';
    const answer = answerOf(this.#results.leaders[0]);
    this.#badge.hidden = this.#origin !== 'recorded';
    setText(this.#answer, isLive ? t('sweep_page.so_far', { answer }) : answer);
    setText(this.#place, placeOf(this.#results));
  }

  /** Say how the sweep stands, and switch the buttons. */
  #tell() {
    if (!this.#shown) return;
    const { isBusy, state, text } = this.#task;
    const { can_run: canRun } = this.#data;
    this.#shown.hidden = this.#results.isEmpty;
    if (!this.#results.isEmpty) this.#showAnswer();
    setEnabled(this.#start, canRun && !isBusy && this.#form.values.lanes.length > 0);
    this.#stop.hidden = !isBusy;
    const hasMore = this.#results.key !== null && !isBusy;
    this.#goOn.hidden = !hasMore;
    this.#bar.hidden = this.#left.hidden = !isBusy;
    this.#files.follow(isBusy ? null : this.#results.key, isBusy || !canRun);
    if (state === 'error' && text) this.#refuse(text);
    setText(this.#status, canRun ? this.#standing(isBusy, state) : t('sweep_page.cannot_run'));
    if (isBusy) this.#showProgress();
  }

  #standing(isBusy, state) {
    if (isBusy) return t(this.#progress?.is_repeating ? 'sweep_page.repeating' : 'sweep_page.running');
    if (state === 'stopped') return t('sweep_page.stopped');
    return state === 'finished' ? t('sweep_page.finished') : '';
  }

  #showProgress() {
    const progress = this.#progress;
    if (!progress) {
      this.#bar.removeAttribute('value');
      return setText(this.#left, t('sweep_page.waiting'));
    }
    this.#bar.setAttribute('value', String(progress.done / Math.max(1, progress.of)));
    const minutes = Math.floor(progress.seconds_left / 60);
    const left = t('sweep_page.time', { minutes, seconds: progress.seconds_left % 60 });
    setText(this.#left, t('sweep_page.left', { done: progress.done, of: progress.of, left }));
  }

  #refuse(text) {
    setText(this.#refusal, sentence(text));
  }

  async #copyLink() {
    const link = sweepLinkOf(this.#form.values, window.location.href);
    try {
      await navigator.clipboard.writeText(link);
      setText(this.#copy, t('preset.copied'));
      setTimeout(() => setText(this.#copy, t('sweep_page.copy')), SHOWN_MS);
    } catch {
      // Without a secure address a page may not write to the clipboard: the visitor copies by hand.
      this.#link.hidden = false;
      this.#link.value = link;
      this.#link.focus();
      this.#link.select();
    }
  }
}

/** The one sentence that a visitor of ten seconds reads. */
export function answerOf({ draft, gamma, speedup, verdict }) {
  const values = { draft, gamma, speedup: times(speedup) };
  if (verdict.is_worth_it === null) return t('sweep_page.answer_unclear', values);
  return t(verdict.is_worth_it ? 'sweep_page.answer_yes' : 'sweep_page.answer_no', values);
}

function placeOf({ environment, numRaces, numPrompts, target, tokens, lanes }) {
  if (!environment) return '';
  const date = new Date(environment.recorded_at).toLocaleDateString(language, { dateStyle: 'long' });
  const temperatures = [...new Set(lanes.map(({ temperature }) => temperature))];
  return t('sweep_page.place', {
    device: environment.device_name,
    date,
    races: numRaces,
    prompts: numPrompts,
    tokens,
    target,
    law: temperatures.map((each) => (each ? t('sweep_page.law', { t: each }) : t('sweep_page.greedy'))).join(', '),
  });
}

// What a proof has told so far: how far it is, the histograms or the grid of texts, and the verdict.
import { make, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { GreedyGrid } from './greedy_grid.js';
import { Histogram } from './histogram.js';
import { checkRow, checksTable } from './checks.js';
import { verdictOf } from './verdict.js';

/**
 * The news of a proof, as `specviz/host/proofs.py` gives them.
 * @typedef {{ kind: string, [field: string]: any }} News
 */

/** Takes a proof's news in, and draws what it shows. */
export class ProofReport {
  #told = make('p', 'sv-proof-told', '', { role: 'status' });
  #meter = make('progress', 'sv-loading', '', { max: 1, 'aria-label': t('proof.progress') });
  #title = make('h3');
  #why = make('p');
  #verdict = wrap('div', 'sv-proof-verdict', this.#title, this.#why);
  #next = new Histogram('next');
  #joint = new Histogram('continuation');
  #checks = make('tbody');
  #grid = new GreedyGrid();
  #sampled;
  /** What it was begun with. @type {News | null} */
  #begun = null;
  /** @type {News | null} */
  #end = null;
  #state = 'idle';

  constructor() {
    this.#sampled = wrap('div', 'sv-proof-sampled', this.#next.element, this.#joint.element, checksTable(this.#checks));
    this.element = wrap('div', 'sv-proof-report', this.#verdict, this.#told, this.#meter, this.#sampled, this.#grid.element);
    this.clear();
  }

  /** Forget what was told before. */
  clear() {
    [this.#begun, this.#end] = [null, null];
    for (const part of [this.#next, this.#joint, this.#grid]) part.clear();
    this.#checks.replaceChildren();
    this.#meter.hidden = true;
    this.#showVerdict();
  }

  /** @param {News[]} items */
  take(items) {
    let progress = null;
    for (const item of items) {
      if (item.kind === 'begun') this.#begin(item);
      else if (item.kind === 'loading') setText(this.#told, t('proof.loading', { model: item.model }));
      else if (item.kind === 'text') this.#takeText(item);
      else if (item.kind === 'progress') {
        progress = item;
        this.#next.note(item.num_done, item.total_variation, item.bound);
        this.#joint.note(item.num_done, item.joint_variation, item.joint_bound);
      } else this.#end = item;
    }
    if (progress) this.#takeProgress(progress);
    this.#showVerdict();
  }

  /** How the work stands: what was not told to its end has no verdict. */
  follow(state) {
    this.#state = state;
    if (state === 'starting') setText(this.#told, t('proof.waiting'));
    if (state === 'stopped' || state === 'error') this.#meter.hidden = true;
    this.#showVerdict();
  }

  #begin(item) {
    this.#begun = item;
    this.#sampled.hidden = item.is_greedy;
    this.#grid.element.hidden = !item.is_greedy;
    this.#joint.setLength(item.num_tokens);
  }

  #takeProgress(item) {
    const { num_done: done, num_samples: all } = item;
    setText(this.#told, t('proof.done', { done, all }));
    this.#show(done / all);
    this.#next.show(item.bars, done, all);
    this.#joint.show(item.continuations, done, all);
    this.#next.test(item.checks[0]);
    this.#joint.test(item.checks[1]);
    this.#checks.replaceChildren(...item.checks.map((check) => checkRow(check)));
  }

  #takeText(item) {
    this.#grid.add(item);
    setText(this.#told, t('proof.done_texts', { done: this.#grid.count, all: item.num_texts }));
    this.#show(this.#grid.count / item.num_texts);
  }

  #show(share) {
    this.#meter.hidden = share >= 1;
    this.#meter.setAttribute('value', String(share));
  }

  #showVerdict() {
    const { title, why, look } = verdictOf(this.#begun, this.#end, this.#state);
    setText(this.#title, title);
    setText(this.#why, why);
    this.#verdict.dataset.look = look;
    const telltale = this.#end?.telltale ?? null;
    this.#next.point(telltale?.kind === 'next' ? telltale.index : null);
    this.#joint.point(telltale?.kind === 'continuation' ? telltale.index : null);
  }
}

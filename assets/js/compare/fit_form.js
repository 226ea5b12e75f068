// What a fit is asked for with: target, draft to start from, minutes, and the visitor's own prompts.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

const MINUTES = [1, 3, 5, 10, 20, 30];
const FIRST_MINUTES = 3;
const HELD_OUT_SHARE = 0.2;
const LEAST_HELD_OUT = 2;
/** A draft that is weak where the example's prompts are shows the most. */
const EXAMPLE_DRAFT = /misfit/;
/** Stands for a new draft in the list of drafts. */
const NEW = '';

/** The form; `start(values)` is called with what the server takes. */
export class FitForm {
  #data;
  #target = make('select');
  #draft = make('select');
  #minutes = make('select');
  #prompts = make('textarea', 'sv-fit-prompts', '', { rows: '8', spellcheck: 'false' });
  #count = make('p', 'sv-facts', '', { role: 'status' });
  #warning = make('p', 'sv-note');
  #file = make('input', 'sv-file', '', { type: 'file', accept: '.txt,text/plain', hidden: '' });
  #start;
  #isBusy = false;

  constructor(data, start) {
    this.#data = data;
    this.#start = makeButton(t('fitting.start'), () => start(this.values), 'sv-button is-main');
    const example = makeButton(t('fitting.example', { n: linesOf(data.example).length }), () => this.#takeExample());
    const open = makeButton(t('fitting.open'), () => this.#file.click());
    this.#file.addEventListener('change', () => this.#readFile());
    const target = field('target', this.#target);
    target.hidden = data.pairs.length < 2;
    const choices = wrap('div', 'sv-fit-choices', target, field('draft', this.#draft), field('minutes', this.#minutes));
    const tools = wrap('div', 'sv-fit-tools', example, open, this.#file);
    const said = wrap('div', 'sv-fit-said', this.#count, this.#warning);
    this.element = wrap('div', 'sv-fit-form', choices, field('prompts', this.#prompts), tools, said, this.#start);
    this.#target.append(...data.pairs.map((pair) => make('option', '', pair.target)));
    this.#fillMinutes();
    this.#fillDrafts();
    this.#target.addEventListener('change', () => this.#fillDrafts());
    this.#prompts.addEventListener('input', () => this.#countPrompts());
    this.#countPrompts();
  }

  /** What the server is asked for. */
  get values() {
    return {
      target: this.#target.value,
      draft: this.#draft.value === NEW ? null : this.#draft.value,
      prompts: this.#prompts.value,
      minutes: Number(this.#minutes.value),
    };
  }

  /** Take prompts, for instance those of a file; for the example's also the draft that shows most. */
  take(text, draft = null) {
    this.#prompts.value = text;
    if (draft !== null) this.#draft.value = draft;
    this.#countPrompts();
  }

  /** A draft more is on the menu. */
  offer(pair) {
    const known = this.#data.pairs.find(({ target }) => target === pair.target);
    if (known) known.drafts = pair.drafts;
    const chosen = this.#draft.value;
    this.#fillDrafts();
    this.#draft.value = chosen;
  }

  /** One fit at a time. */
  hold(isBusy) {
    this.#isBusy = isBusy;
    this.#countPrompts();
  }

  #takeExample() {
    const drafts = this.#drafts();
    this.take(this.#data.example, drafts.find((name) => EXAMPLE_DRAFT.test(name)) ?? drafts[0] ?? NEW);
  }

  async #readFile() {
    const [file] = this.#file.files;
    if (!file) return;
    this.take(await file.text());
    // The same file may be chosen again.
    this.#file.value = '';
  }

  #drafts() {
    return this.#data.pairs.find(({ target }) => target === this.#target.value)?.drafts ?? [];
  }

  #fillDrafts() {
    const options = this.#drafts().map((name) => make('option', '', name, { value: name }));
    this.#draft.replaceChildren(...options, make('option', '', t('fitting.new_draft'), { value: NEW }));
  }

  #fillMinutes() {
    const [least, most] = this.#data.limits.minutes;
    const offered = MINUTES.filter((minutes) => minutes >= least && minutes <= most);
    const options = offered.map((n) => make('option', '', t('fitting.n_minutes', { n }), { value: n }));
    this.#minutes.append(...options);
    this.#minutes.value = String(FIRST_MINUTES);
  }

  #countPrompts() {
    const { prompts: [least, most], few } = this.#data.limits;
    const n = linesOf(this.#prompts.value).length;
    const heldOut = Math.max(LEAST_HELD_OUT, Math.round(HELD_OUT_SHARE * n));
    const isFit = n >= least && n <= most;
    const counts = { n, learned: n - heldOut, held_out: heldOut };
    setText(this.#count, isFit ? t('fitting.count', counts) : t('fitting.count_off', { n, least: plain(least), most: plain(most) }));
    setText(this.#warning, isFit && n < few ? t('fitting.warn_few', { few }) : '');
    setEnabled(this.#start, isFit && !this.#isBusy);
  }
}

/** Different lines that are not empty, as the server counts them. */
export function linesOf(text) {
  return [...new Set(text.split(/\r\n|\r|\n/).filter((line) => line.trim()))];
}

function field(name, control) {
  return wrap('label', 'sv-picker', make('span', '', t(`fitting.${name}`)), control);
}

// The head doctor: how often an EAGLE-3 head agrees with its target, read as its files state and otherwise.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { compact, percent } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { Task } from '../wire/tasks.js';

/**
 * @typedef {{ reading: string, num_same: number, agreement: number }} Reading
 * @typedef {{ used: string, is_as_stated: boolean, num_tokens: number, taps: number[],
 *   draft_vocab_size: number, vocab_size: number, readings: Reading[] }} Diagnosis
 */

/** What was found on this visit, by target and head: the models stay as they are. @type {Map<string, Diagnosis>} */
const found = new Map();
/** In what a reading differs from what the files state, as words of the command line, and their texts. */
const WORDS = { 'taps+1': 'taps_later', 'taps-1': 'taps_earlier', 'plain-rope': 'plain_rope', 'double-norm': 'double_norm' };

/** A folded line in the row of a lane; it asks the server when it is opened. */
export class HeadDoctor {
  #target;
  #head;
  #said = make('p', 'sv-doctor-said', '', { role: 'status' });
  #answer = make('div', 'sv-doctor-answer');
  #again = makeButton(t('doctor.again'), () => this.#ask(), 'sv-button sv-doctor-again');
  #task = new Task('doctor', { onNews: (items) => this.#take(items), onState: () => this.#tell() });
  /** The head that is being tried out, which may not be the chosen one any more. */
  #asked = '';

  /** `head()` gives the head that is chosen. */
  constructor(target, head) {
    this.#target = target;
    this.#head = head;
    const about = make('p', 'sv-doctor-about', t('doctor.about'));
    const summary = make('summary', '', t('doctor.title'));
    this.element = wrap('details', 'sv-doctor', summary, about, this.#said, this.#again, this.#answer);
    this.element.addEventListener('toggle', () => this.show());
    this.#again.hidden = true;
  }

  /** Show what is known of the head that is chosen, and ask where nothing is. */
  show() {
    if (!(/** @type {HTMLDetailsElement} */ (this.element).open)) return;
    this.#draw();
    if (!found.has(this.#key(this.#head()))) this.#ask();
  }

  #key(head) {
    return `${this.#target}\n${head}`;
  }

  async #ask() {
    if (this.#task.isBusy) return;
    this.#asked = this.#head();
    await this.#task.start({ target: this.#target, head: this.#asked });
    // Another head may have been chosen meanwhile; one that failed is asked for by hand.
    if (this.#asked !== this.#head()) this.show();
  }

  #take(items) {
    for (const each of items) found.set(this.#key(this.#asked), each);
    this.#draw();
  }

  #tell() {
    const { isBusy, state, text } = this.#task;
    setText(this.#said, isBusy ? t('doctor.asking') : state === 'error' ? sentence(text) : '');
    this.#again.hidden = isBusy || state !== 'error';
  }

  #draw() {
    const diagnosis = found.get(this.#key(this.#head()));
    this.#answer.replaceChildren(...(diagnosis ? answerOf(diagnosis, this.#target) : []));
  }
}

/** What was found, as elements: how the head is read, a warning where its files say otherwise, and every reading. */
export function answerOf(diagnosis, target) {
  const { used, is_as_stated: isStated, num_tokens: n, taps, draft_vocab_size: drafted, vocab_size: all, readings } = diagnosis;
  const agreement = (how) => percent(readings.find(({ reading }) => reading === how)?.agreement);
  const values = { how: readingText(used), share: agreement(used), stated: agreement('stated') };
  const mark = make('b', 'sv-doctor-mark', isStated ? '✓' : '!', { 'aria-hidden': 'true' });
  const told = make('span', '', t(isStated ? 'doctor.as_stated' : 'doctor.otherwise', values));
  const verdict = wrap('p', isStated ? 'sv-doctor-verdict' : 'sv-doctor-verdict is-warning', mark, told);
  const places = taps.map((tap) => (tap < 0 ? t('doctor.tap_final') : String(tap))).join(', ');
  const facts = make('p', 'sv-doctor-facts', t('doctor.facts', { taps: places, drafted: compact(drafted), all: compact(all) }));
  const rows = readings.map((row) => readingRow(row, row.reading === used));
  const titles = ['column_reading', 'column_agrees'].map((name) => make('th', '', t(`doctor.${name}`), { scope: 'col' }));
  const head = wrap('thead', '', wrap('tr', '', ...titles));
  const caption = make('caption', '', t('doctor.caption', { n, target }));
  return [verdict, facts, wrap('table', 'sv-doctor-table', caption, head, wrap('tbody', '', ...rows))];
}

function readingRow({ reading, agreement, num_same: same }, isUsed) {
  const mark = isUsed ? [make('b', 'sv-doctor-used', t('doctor.used'))] : [];
  const name = wrap('th', '', make('span', '', readingText(reading)), ...mark);
  name.setAttribute('scope', 'row');
  const bar = make('i', 'sv-doctor-bar', '', { 'aria-hidden': 'true' });
  bar.style.setProperty('--sv-share', String(agreement));
  const cell = wrap('td', '', bar, make('span', '', percent(agreement)));
  cell.title = String(same);
  return wrap('tr', isUsed ? 'is-used' : '', name, cell);
}

/** A reading in words: `taps+1 double-norm` says in what it differs from what the files state. */
export function readingText(reading) {
  if (reading === 'stated') return t('doctor.stated');
  return reading.split(' ').map((word) => t(`doctor.${WORDS[word]}`)).join(', ');
}

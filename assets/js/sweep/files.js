// A sweep as a file: saved as JSON or as a table, and opened again.
import { make, makeButton, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { Task } from '../wire/tasks.js';

const KINDS = { json: 'application/json', csv: 'text/csv' };

/** The buttons; `open(news)` shows what a file held, `refuse(text)` says why something failed. */
export class SweepFiles {
  #refuse;
  #open;
  #key = null;
  #kind = null;
  #saves = Object.keys(KINDS).map((kind) =>
    makeButton(t(`sweep_page.save_${kind}`), () => this.#save(kind), 'sv-button', { 'data-save': kind }),
  );
  #file = make('input', 'sv-file', '', { type: 'file', accept: '.json', hidden: '' });
  #opening = makeButton(t('sweep_page.open'), () => this.#file.click());
  #saving = new Task('sweep_file', { onNews: (news) => this.#give(news[0].text), onState: (task) => this.#told(task) });
  #reading = new Task('sweep_open', { onNews: (news) => this.#open(news[0]), onState: (task) => this.#told(task) });

  constructor(open, refuse) {
    this.#open = open;
    this.#refuse = refuse;
    this.#file.addEventListener('change', () => this.#read());
    this.element = wrap('div', 'sv-sweep-files', ...this.#saves, this.#opening, this.#file);
  }

  /** Save the sweep of this key; null where it cannot be saved. `isBusy` keeps others from being opened. */
  follow(key, isBusy) {
    this.#key = key;
    for (const button of this.#saves) {
      setEnabled(button, key !== null);
      button.title = key === null ? t('sweep_page.save_none') : '';
    }
    setEnabled(this.#opening, !isBusy);
  }

  #save(kind) {
    this.#kind = kind;
    void this.#saving.start({ key: this.#key, kind });
  }

  async #read() {
    const [file] = this.#file.files;
    if (!file) return;
    const text = await file.text();
    // The same file may be chosen again.
    this.#file.value = '';
    void this.#reading.start({ text });
  }

  #told({ state, text }) {
    if (state === 'error') this.#refuse(text);
  }

  #give(text) {
    const link = make('a', '', '', { download: `specviz-sweep.${this.#kind}` });
    link.href = URL.createObjectURL(new Blob([text], { type: KINDS[this.#kind] }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }
}

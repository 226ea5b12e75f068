// The files of a panel's races: a finished one is saved as trace, page or table, and a saved one is opened.
import { make } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { Menu } from '../page/menu.js';
import { sentence, t } from '../page/strings.js';
import { ask } from '../wire/server.js';
import { transportButton } from './transport_button.js';

/** What a race is saved as, and the media type of each; the texts are `transport.save_KIND` and `…_title`. */
const KINDS = { json: 'application/json', html: 'text/html', csv: 'text/csv' };

/** The buttons for files in a transport, which calls `follow`. */
export class RaceFiles {
  #playback;
  #refuse;
  #save = transportButton('save', () => this.#menu.toggle());
  #open = transportButton('open_race', () => this.#file.click(), 'open-race');
  #file = make('input', 'sv-file', '', { type: 'file', accept: '.json', hidden: '' });
  #menu;
  #isAnyShowing = false;
  /** The finished live race that "save" means, also while its recording is shown. */
  #own = { run: null, packets: null };

  /** `refuse(text)` says why something failed. */
  constructor({ name, playback }, refuse) {
    this.#playback = playback;
    this.#refuse = refuse;
    const items = Object.keys(KINDS).map((kind) => ({
      name: kind,
      text: t(`transport.save_${kind}`),
      detail: t(`transport.save_${kind}_title`),
      act: () => this.#saveAs(kind),
    }));
    this.#menu = new Menu(this.#save, `sv-${name}-save-menu`, items);
    this.#file.addEventListener('change', () => this.#openRace());
  }

  get elements() {
    return [this.#save, this.#menu.element, this.#open, this.#file];
  }

  /** Switch the buttons on or off; `isOver` says whether a whole race is shown. */
  follow(isOver, isAnyShowing) {
    this.#isAnyShowing = isAnyShowing;
    const canSave = isOver && this.#ownRun() !== null;
    if (!canSave) this.#menu.close();
    setEnabled(this.#save, canSave);
    setEnabled(this.#open, !isAnyShowing);
  }

  /** The packets of a finished run, with figures after every round; null where that was refused. */
  async finished(run) {
    const { packets = null, error } = await ask('finished', run);
    if (error) this.#refuse(sentence(error));
    else this.#own = { run, packets };
    return packets;
  }

  /** The run on the server that is shown: a live one, or the one whose recording is played. */
  #ownRun() {
    const { recording, run } = this.#playback;
    if (recording === null) return run;
    return recording === this.#own.packets ? this.#own.run : null;
  }

  async #saveAs(kind) {
    const { text, error } = await ask('saved', this.#ownRun(), kind);
    if (error) return this.#refuse(sentence(error));
    const link = make('a', '', '', { download: `specviz-race-${timeStamp()}.${kind}` });
    link.href = URL.createObjectURL(new Blob([text], { type: KINDS[kind] }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }

  async #openRace() {
    const [file] = this.#file.files;
    if (!file) return;
    const text = await file.text();
    // The same file may be chosen again.
    this.#file.value = '';
    const { packets, error } = await ask('opened', text);
    if (error) return this.#refuse(sentence(error));
    if (!this.#isAnyShowing) this.#playback.show(packets);
  }
}

/** The moment as part of a file's name: 2026-01-31-1459. */
function timeStamp() {
  return new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
}

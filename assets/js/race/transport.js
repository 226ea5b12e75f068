// The transport of a panel: hold the race, go on, one round, slow motion, again, to a file and from one.
import { onBusyChange, stopRaces } from '../model/panels.js';
import { make, makeButton, setText } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { icon, setIcon } from '../page/icons.js';
import { sentence, t } from '../page/strings.js';
import { shortSpeed } from './speed.js';
import { helpOfKeys, listenForKeys } from './shortcuts.js';
import { ask } from '../wire/server.js';

/** Draw the transport into a status strip; `refuse(text)` says there why something failed. */
export function mountTransport(container, panel, refuse) {
  const transport = new Transport(container, panel, refuse);
  listenForKeys(container, transport);
}

class Transport {
  #playback;
  #refuse;
  #pause = button('pause', () => this.toggle());
  #step = button('step', () => this.step());
  #stop = button('stop', () => this.stop(), 'halt');
  #again = button('again', () => this.#watchAgain());
  #save = button('save', () => this.#saveRace());
  #open = button('open_race', () => this.#file.click(), 'open-race');
  #file = make('input', 'sv-file', '', { type: 'file', accept: '.json', hidden: '' });
  #isAnyBusy = false;
  #isAnyShowing = false;
  /** The finished live race that "save" means, also while its recording is shown. */
  #own = { run: null, packets: null };

  constructor(container, panel, refuse) {
    const { playback } = panel;
    this.#playback = playback;
    this.#refuse = refuse;
    const row = make('div', 'sv-transport', '', { role: 'group', 'aria-label': t('transport.name') });
    this.#stop.id = `sv-${panel.name}-stop`;
    row.append(this.#pause, this.#step, this.#stop, shortSpeed(panel), this.#again, this.#save);
    row.append(this.#open, this.#file, ...helpOfKeys());
    container.append(row);
    this.#file.addEventListener('change', () => this.#openRace());
    onBusyChange((isBusy, isShowing) => {
      this.#isAnyBusy = isBusy;
      this.#isAnyShowing = isShowing;
      this.#follow();
    });
    playback.subscribe(() => this.#follow());
  }

  /** Hold the race, or let it go on. */
  toggle() {
    if (!this.canHold()) return;
    if (this.#playback.isPaused) this.#playback.resume();
    else this.#playback.pause();
  }

  /** Show one round of a lane that drafts, and hold. */
  step() {
    if (this.canHold()) this.#playback.step();
  }

  /** Stop the race. */
  stop() {
    if (this.canStop()) stopRaces();
  }

  /** Whether there is a race to hold. */
  canHold() {
    return this.#playback.race.status.state === 'running';
  }

  /** Whether there is a race to stop, on this panel or another: a visitor has one at a time. */
  canStop() {
    return this.#isAnyBusy;
  }

  #follow() {
    const { race, isPaused } = this.#playback;
    const isOver = !this.#isAnyShowing && race.hasRounds && race.isOver;
    for (const held of [this.#pause, this.#step]) setEnabled(held, this.canHold());
    setEnabled(this.#stop, this.canStop());
    setEnabled(this.#again, isOver);
    setEnabled(this.#save, isOver && this.#ownRun() !== null);
    setEnabled(this.#open, !this.#isAnyShowing);
    const sign = isPaused && this.canHold() ? 'resume' : 'pause';
    setIcon(this.#pause.firstChild, sign);
    setText(this.#pause.lastChild, t(`transport.${sign}`));
  }

  /** The run on the server that is shown: a live one, or the one whose recording is played. */
  #ownRun() {
    const { recording, run } = this.#playback;
    if (recording === null) return run;
    return recording === this.#own.packets ? this.#own.run : null;
  }

  async #watchAgain() {
    const { recording, run, race, factor } = this.#playback;
    const packets = recording ?? (await this.#finished(run));
    if (!packets || this.#playback.race !== race) return;
    this.#playback.play(packets);
    if (factor !== this.#playback.factor) this.#playback.slowOnce(factor);
  }

  async #finished(run) {
    const { packets, error } = await ask('finished', run);
    if (error) this.#refuse(sentence(error));
    else this.#own = { run, packets };
    return packets;
  }

  async #saveRace() {
    const { text, error } = await ask('saved', this.#ownRun());
    if (error) return this.#refuse(sentence(error));
    const link = make('a', '', '', { download: `specviz-race-${timeStamp()}.json` });
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
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

function button(name, act, style = name) {
  const title = t(`transport.${name}_title`);
  const element = makeButton('', act, `sv-button sv-${style}`, { title });
  element.append(icon(name), make('span', '', t(`transport.${name}`)));
  return element;
}

/** The moment as part of a file's name: 2026-01-31-1459. */
function timeStamp() {
  return new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
}

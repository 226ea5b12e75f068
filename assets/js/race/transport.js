// The transport of a panel: hold the race, go on, one round, slow motion, again; and beside it its files.
import { onBusyChange, stopRaces } from '../model/panels.js';
import { make, setText } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { setIcon } from '../page/icons.js';
import { t } from '../page/strings.js';
import { shortSpeed } from './speed.js';
import { helpOfKeys, listenForKeys } from './shortcuts.js';
import { transportButton } from './transport_button.js';

/** Draw the transport into a status strip; `files` is null where races are neither saved nor opened. */
export function mountTransport(container, panel, files = null) {
  const transport = new Transport(container, panel, files);
  listenForKeys(container, transport);
}

class Transport {
  #playback;
  #files;
  #pause = transportButton('pause', () => this.toggle());
  #step = transportButton('step', () => this.step());
  #stop = transportButton('stop', () => this.stop(), 'halt');
  #again = transportButton('again', () => this.#watchAgain());
  #isAnyBusy = false;
  #isAnyShowing = false;

  constructor(container, panel, files) {
    const { playback } = panel;
    this.#playback = playback;
    this.#files = files;
    const row = make('div', 'sv-transport', '', { role: 'group', 'aria-label': t('transport.name') });
    this.#stop.id = `sv-${panel.name}-stop`;
    row.append(this.#pause, this.#step, this.#stop, shortSpeed(panel), this.#again);
    row.append(...(files?.elements ?? []), ...helpOfKeys());
    container.append(row);
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
    this.#files?.follow(isOver, this.#isAnyShowing);
    const sign = isPaused && this.canHold() ? 'resume' : 'pause';
    setIcon(this.#pause.firstChild, sign);
    setText(this.#pause.lastChild, t(`transport.${sign}`));
  }

  async #watchAgain() {
    const { recording, run, race, factor } = this.#playback;
    const packets = recording ?? (await this.#files?.finished(run));
    if (!packets || this.#playback.race !== race) return;
    this.#playback.play(packets);
    if (factor !== this.#playback.factor) this.#playback.slowOnce(factor);
  }
}

// The transport of a scene: hold the race, go on, one round, slow motion, again, to a file and from one.
import { onBusyChange } from '../core/busy.js';
import { make, setText } from '../core/dom.js';
import { icon, setIcon } from '../core/icons.js';
import { FACTORS } from '../core/pacer.js';
import { ask } from '../core/server.js';
import { helpOfKeys, listenForKeys } from './shortcuts.js';
import { t, tell } from '../core/strings.js';

const OVER = new Set(['finished', 'stopped', 'error']);

/** Draw the transport into a status strip; `refuse(text)` says there why something failed. */
export function mountTransport(place, scene, refuse) {
  const transport = new Transport(place, scene, refuse);
  listenForKeys(place, transport);
}

class Transport {
  #scene;
  #pacer;
  #refuse;
  #pause = button('pause', () => this.toggle());
  #step = button('step', () => this.step());
  #stop = button('stop', () => this.stop(), 'halt');
  #speed = make('select', 'sv-speed', '', { 'aria-label': t('transport.speed') });
  #again = button('again', () => this.#watchAgain());
  #save = button('save', () => this.#saveRace());
  #open = button('open_race', () => this.#file.click(), 'open-race');
  #file = make('input', 'sv-file', '', { type: 'file', accept: '.json', hidden: '' });
  #state = 'idle';
  #hasRounds = false;
  #isAnyBusy = false;
  /** The finished live race that "save" means, also while its recording is shown. */
  #own = { run: null, recording: null };

  constructor(place, scene, refuse) {
    this.#scene = scene;
    this.#pacer = scene.pacer;
    this.#refuse = refuse;
    const row = make('div', 'sv-transport', '', { role: 'group', 'aria-label': t('transport.name') });
    row.append(this.#pause, this.#step, this.#stop, this.#speed, this.#again, this.#save);
    row.append(this.#open, this.#file, ...helpOfKeys());
    place.append(row);
    this.#speed.addEventListener('change', () => this.#pacer.setFactor(Number(this.#speed.value)));
    this.#file.addEventListener('change', () => this.#openRace());
    document.addEventListener('click', (event) => {
      if (event.target.closest('button.sv-stop') && this.#pacer.isBusy) this.#pacer.stop();
    });
    scene.store.subscribe((items) => this.#take(items));
    this.#pacer.subscribe(() => this.#follow());
    onBusyChange((isBusy) => {
      this.#isAnyBusy = isBusy;
      this.#follow();
    });
  }

  /** Hold the race, or let it go on. */
  toggle() {
    if (this.#pause.disabled) return;
    if (this.#pacer.isPaused) this.#pacer.resume();
    else this.#pacer.pause();
  }

  /** Show one round of a lane that guesses, and hold. */
  step() {
    if (!this.#step.disabled) this.#pacer.step();
  }

  /** Stop the race as the button beside Race does. */
  stop() {
    if (this.canStop()) document.getElementById(`sv-${this.#scene.name}-stop`)?.click();
  }

  /** Whether there is a race to hold. */
  canHold() {
    return !this.#pause.disabled;
  }

  /** Whether there is a race to stop. */
  canStop() {
    return this.#pacer.isBusy;
  }

  #take(items) {
    for (const item of items) {
      if (item.k === 'reset') this.#hasRounds = false;
      else if (item.k === 'round') this.#hasRounds = true;
      else if (item.k === 'status') this.#state = item.state;
    }
    this.#follow();
  }

  #follow() {
    const pacer = this.#pacer;
    const runs = pacer.isBusy && this.#state === 'running';
    const isOver = !this.#isAnyBusy && this.#hasRounds && OVER.has(this.#state);
    setEnabled(this.#pause, runs);
    setEnabled(this.#step, runs);
    setEnabled(this.#stop, pacer.isBusy);
    setEnabled(this.#again, isOver);
    setEnabled(this.#save, isOver && this.#ownRun() !== null);
    setEnabled(this.#open, !this.#isAnyBusy);
    const sign = pacer.isPaused && runs ? 'resume' : 'pause';
    setIcon(this.#pause.firstChild, sign);
    setText(this.#pause.lastChild, t(`transport.${sign}`));
    this.#showFactor(pacer.factor);
  }

  #showFactor(factor) {
    if (this.#speed.value === String(factor)) return;
    const factors = [...new Set([...FACTORS, factor])].sort((a, b) => a - b);
    this.#speed.replaceChildren(...factors.map((each) => make('option', '', speedName(each), { value: each })));
    this.#speed.value = String(factor);
  }

  /** The run on the server that is shown: a live one, or the one whose recording is played. */
  #ownRun() {
    const { recording, run } = this.#pacer;
    if (recording === null) return run;
    return recording === this.#own.recording ? this.#own.run : null;
  }

  async #watchAgain() {
    const { recording, run } = this.#pacer;
    const found = recording ?? (await ask('finished', run));
    if (found.error) return this.#refuse(tell(found.error));
    if (recording === null) this.#own = { run, recording: found };
    if (this.#pacer.run === run) this.#pacer.play(found);
  }

  async #saveRace() {
    const found = await ask('saved', this.#ownRun());
    if (found.error) return this.#refuse(tell(found.error));
    const link = make('a', '', '', { download: `specviz-race-${timeStamp()}.json` });
    link.href = URL.createObjectURL(new Blob([found.text], { type: 'application/json' }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }

  async #openRace() {
    const [file] = this.#file.files;
    if (!file) return;
    const text = await file.text();
    // The same file may be chosen again.
    this.#file.value = '';
    const found = await ask('opened', text);
    if (found.error) return this.#refuse(t('transport.not_opened', { why: found.error }));
    if (!this.#isAnyBusy) this.#pacer.show(found);
  }
}

function button(name, act, style = name) {
  const title = t(`transport.${name}_title`);
  const element = make('button', `sv-button sv-${style}`, '', { type: 'button', title });
  element.append(icon(name), make('span', '', t(`transport.${name}`)));
  element.addEventListener('click', act);
  return element;
}

function setEnabled(element, isEnabled) {
  if (element.disabled === isEnabled) element.disabled = !isEnabled;
}

function speedName(factor) {
  return factor === 1 ? t('transport.full_speed') : t('transport.slower', { n: factor });
}

/** The moment as part of a file's name: 2026-01-31-1459. */
function timeStamp() {
  return new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
}

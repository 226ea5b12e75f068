// One small bar a round: its height is the tokens gained, its mark a bonus.
import { make } from '../core/dom.js';
import { written } from './rounds_book.js';
import { t } from '../core/strings.js';

/** Draws the rounds of a lane as a listbox of bars and shows which one is open. */
export class Bars {
  #reader;
  #rounds = null;
  #bars = [];
  #chosen = null;

  constructor(reader) {
    this.#reader = reader;
    this.element = make('div', 'sv-round-bars', '', {
      role: 'listbox',
      tabindex: '0',
      'aria-label': t('rounds.bars'),
      'aria-orientation': 'horizontal',
    });
    this.element.addEventListener('click', (event) => {
      const bar = event.target.closest('[role=option]');
      if (bar) reader.to(this.#bars.indexOf(bar));
    });
  }

  /** Add the bars that are new, and show the open one. */
  update() {
    const { rounds, index, guesses } = this.#reader;
    if (rounds !== this.#rounds) {
      this.#rounds = rounds;
      this.#bars = [];
      this.element.replaceChildren();
    }
    for (const round of rounds.slice(this.#bars.length)) this.#bars.push(this.#bar(round));
    for (const bar of this.#bars) if (!bar.isConnected) this.element.append(bar);
    if (guesses.isOn || this.element.classList.contains('has-veils')) this.#veil();
    this.#choose(this.#bars[index]);
  }

  #bar(round) {
    const { spec, beats } = this.#describe(round);
    const n = written(round).length;
    const bar = make('div', 'sv-round-bar', '', {
      id: `sv-round-bar-${this.#bars.length}`,
      role: 'option',
      'aria-selected': 'false',
    });
    bar.dataset.end = beats.fates.at(-1);
    const fill = make('i', '', '', { style: `height: ${(100 * n) / Math.max(spec.gamma + 1, n)}%` });
    bar.append(fill);
    this.#label(bar, round, false);
    return bar;
  }

  #describe(round) {
    return { spec: this.#reader.spec, beats: this.#reader.beatsOf(round) };
  }

  #label(bar, round, isVeiled) {
    const isBonus = bar.dataset.end === 'bonus';
    const id = isVeiled ? 'rounds.bar_veiled' : isBonus ? 'rounds.bar_bonus' : 'rounds.bar';
    const text = t(id, { round: round.round, n: written(round).length });
    bar.setAttribute('aria-label', text);
    bar.title = text;
  }

  // With "guess first" no bar tells what is still to be guessed.
  #veil() {
    const { rounds, index, guesses } = this.#reader;
    this.element.classList.toggle('has-veils', guesses.isOn);
    this.#bars.forEach((bar, place) => {
      const round = rounds[place];
      const isVeiled = place >= index && guesses.isOpen(round, this.#describe(round).beats);
      if (bar.classList.contains('is-veiled') === isVeiled) return;
      bar.classList.toggle('is-veiled', isVeiled);
      this.#label(bar, round, isVeiled);
    });
  }

  #choose(bar) {
    if (bar === this.#chosen) return;
    this.#chosen?.setAttribute('aria-selected', 'false');
    this.#chosen = bar;
    bar.setAttribute('aria-selected', 'true');
    this.element.setAttribute('aria-activedescendant', bar.id);
    // Not scrollIntoView: that would move the whole page as well.
    const middle = bar.offsetLeft - (this.element.clientWidth - bar.offsetWidth) / 2;
    this.element.scrollLeft = middle;
  }
}

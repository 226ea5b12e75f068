// Where the time of a round went, beside the plain steps of the target alone for the same places.
import { make } from '../core/dom.js';
import { milliseconds } from './rounds_format.js';
import { t } from '../core/strings.js';

const PARTS = ['draft', 'verify', 'other'];

/** Draws two strips on one scale. */
export class Times {
  #reader;
  #round = null;
  #drawn = '';

  constructor(reader) {
    this.#reader = reader;
    this.element = make('div', 'sv-round-times');
  }

  /** Draw the open round; before the pass, only what drafting took. */
  update() {
    const { round, beats, beat, book, isOpen } = this.#reader;
    const alone = book.plainSteps(round);
    const isChecked = beat >= beats.ends[1];
    const isTold = beat >= beats.last && alone.length > 0;
    const drawn = [isChecked, isTold, isOpen, alone.length].join(' ');
    if (round === this.#round && drawn === this.#drawn) return;
    this.#round = round;
    this.#drawn = drawn;
    const total = sum(round.ms);
    const aloneTotal = sum(alone.flatMap((step) => step.ms));
    // While fates are hidden, so is how many places the round gained.
    const scale = isOpen ? total : Math.max(total, aloneTotal);
    const shown = isChecked ? round.ms : [round.ms[0]];
    const strips = [strip(t('rounds.this_round'), shown.map(own), scale, ending(shown, total))];
    if (isTold) {
      const steps = alone.map((step) => ({ kind: 'verify', ms: sum(step.ms), text: '' }));
      const n = alone.length;
      const ms = milliseconds(aloneTotal);
      strips.push(strip(t('rounds.alone', { n }), steps, scale, t('rounds.alone_ms', { n, ms })));
    }
    this.element.replaceChildren(...strips);
  }
}

function own(ms, place) {
  const kind = PARTS[place];
  return { kind, ms, text: t(`rounds.part_${kind}`) };
}

function ending(shown, total) {
  const [draft, verify] = shown.map(milliseconds);
  if (verify === undefined) return t('rounds.drafting_ms', { ms: draft });
  // The rest takes up what rounding left over, so that the sum that is shown adds up.
  const other = milliseconds(Math.max(0, milliseconds(total) - draft - verify));
  return t('rounds.round_ms', { draft, verify, other, ms: milliseconds(total) });
}

function strip(label, blocks, scale, text) {
  const row = make('div', 'sv-time-row');
  const track = make('div', 'sv-time-track', '', { 'aria-hidden': 'true' });
  for (const { kind, ms, text: name } of blocks) {
    const block = make('span', `sv-time-block sv-time-${kind}`, name);
    block.style.width = `${(100 * ms) / scale}%`;
    track.append(block);
  }
  row.append(make('span', 'sv-time-label', label), track, make('span', 'sv-time-text', text));
  return row;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

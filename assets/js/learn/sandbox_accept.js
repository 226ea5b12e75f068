// The accept rule over three words: p and q to drag, the numbers they give, and coins to throw.
import { make, setText } from '../core/dom.js';
import { announce } from './sandbox_news.js';
import { makeButton, makeLab } from './sandbox_parts.js';
import { t } from '../core/strings.js';
import { toy } from './toy.js';
import { draw, keepChances, keptMass, overlap, residual } from './toy_laws.js';

const WORDS = [0, 1, 2];
const MANY = 200;

/** The name of one of the toy's words. */
export function wordName(word) {
  return t(`learn.word_${word}`);
}

/** Draw the lab. */
export function makeAccept() {
  return new Accept().element;
}

class Accept {
  #rows = WORDS.map((word) => new Row(word));
  #rate = make('p', 'sv-accept-rate');
  #told = make('p', 'sv-accept-told', '', { role: 'status' });
  #tally = make('ul', 'sv-tally');
  #tallied = make('p', 'sv-tally-sum');
  #counts = [0, 0, 0];
  #kept = 0;

  constructor() {
    this.element = makeLab('accept');
    const rows = make('div', 'sv-toy');
    rows.append(...this.#rows.map((row) => row.element));
    const buttons = make('div', 'sv-lab-buttons');
    buttons.append(
      makeButton(t('learn.accept_one'), () => this.#throw(1)),
      makeButton(t('learn.accept_many'), () => this.#throw(MANY)),
      makeButton(t('learn.accept_reset'), () => toy.reset()),
    );
    this.element.append(rows, this.#rate, buttons, this.#told, this.#tallied, this.#tally);
    toy.subscribe(() => this.#show());
  }

  #show() {
    const [p, q] = [toy.law('p'), toy.law('q')];
    const [chances, masses, rest] = [keepChances(p, q), keptMass(p, q), residual(p, q)];
    for (const [word, row] of this.#rows.entries()) {
      row.show(p[word], q[word], chances[word], masses[word], rest?.[word]);
    }
    const rate = overlap(p, q);
    setText(this.#rate, t('learn.accept_rate', { rate: rate.toFixed(2) }));
    this.#counts = [0, 0, 0];
    this.#kept = 0;
    setText(this.#told, '');
    this.#showTally(p, rate);
    announce('accept', { rate, thrown: 0 });
  }

  #throw(times) {
    const [p, q] = [toy.law('p'), toy.law('q')];
    const [chances, rest] = [keepChances(p, q), residual(p, q)];
    let last;
    for (let n = 0; n < times; n++) {
      const guess = draw(q);
      const coin = Math.random();
      const isKept = coin < chances[guess];
      const word = isKept ? guess : draw(rest);
      this.#counts[word] += 1;
      if (isKept) this.#kept += 1;
      last = { guess, coin, isKept, word };
    }
    setText(this.#told, times === 1 ? sentence(last, chances) : '');
    this.#showTally(p, overlap(p, q));
    announce('accept', { rate: overlap(p, q), thrown: times });
  }

  #showTally(p, rate) {
    const n = this.#counts.reduce((total, count) => total + count, 0);
    this.#tallied.hidden = this.#tally.hidden = n === 0;
    if (!n) return;
    const kept = t('learn.accept_kept_share', { kept: (this.#kept / n).toFixed(3), rate: rate.toFixed(2) });
    this.#tallied.replaceChildren(make('b', '', t('learn.accept_tally', { n })), ` · ${kept}`);
    this.#tally.replaceChildren(
      ...WORDS.map((word) => {
        const share = this.#counts[word] / n;
        const shown = { word: wordName(word), share: share.toFixed(3), p: p[word].toFixed(2) };
        const bar = make('span', 'sv-law-bar', '', { 'aria-hidden': 'true' });
        bar.append(part('is-written', share), mark(p[word]));
        const line = make('li');
        line.append(make('span', '', t('learn.accept_share', shown)), bar);
        return line;
      }),
    );
  }
}

/** One word: its two bars to drag, and what follows from them. */
class Row {
  #inputs = {};
  #values = {};
  #numbers = {};

  constructor(word) {
    this.element = make('div', 'sv-toy-row', '', { role: 'group', 'aria-label': wordName(word) });
    this.element.append(make('b', 'sv-toy-word', wordName(word)));
    const bars = make('div', 'sv-toy-bars');
    bars.append(this.#bar('p', 'target', word), this.#bar('q', 'draft', word));
    const numbers = make('dl', 'sv-toy-numbers');
    for (const name of ['chance', 'mass', 'residual']) {
      this.#numbers[name] = make('dd');
      const pair = make('div');
      pair.append(make('dt', '', t(`learn.accept_${name}`)), this.#numbers[name]);
      numbers.append(pair);
    }
    this.element.append(bars, numbers);
  }

  #bar(law, who, word) {
    const line = make('label', `sv-toy-bar is-${who}`);
    const span = { type: 'range', min: 0, max: 100, step: 1 };
    const name = t(`learn.accept_${who}_of`, { word: wordName(word) });
    const input = make('input', '', '', { ...span, 'aria-label': name });
    input.addEventListener('input', () => toy.set(law, word, Number(input.value)));
    this.#inputs[law] = input;
    this.#values[law] = make('span', 'sv-toy-value', '', { 'aria-hidden': 'true' });
    line.append(make('span', '', t(`learn.accept_${who}`)), input, this.#values[law]);
    return line;
  }

  show(p, q, chance, mass, rest) {
    for (const [law, value] of Object.entries({ p, q })) {
      const input = this.#inputs[law];
      input.value = Math.round(100 * value);
      input.style.setProperty('--sv-share', value);
      input.setAttribute('aria-valuetext', value.toFixed(2));
      setText(this.#values[law], value.toFixed(2));
    }
    setText(this.#numbers.chance, number(chance));
    setText(this.#numbers.mass, number(mass));
    setText(this.#numbers.residual, number(rest));
  }
}

function sentence({ guess, coin, isKept, word }, chances) {
  const shown = {
    word: wordName(guess),
    coin: coin.toFixed(3),
    chance: chances[guess].toFixed(3),
  };
  if (isKept) return t('learn.accept_kept', shown);
  return t('learn.accept_thrown', { ...shown, other: wordName(word) });
}

/** A part of a law's bar. */
export function part(name, share) {
  const piece = make('i', name);
  piece.style.width = `${100 * share}%`;
  return piece;
}

/** The line at p across a law's bar. */
export function mark(share) {
  const line = make('i', 'sv-law-mark');
  line.style.left = `${100 * share}%`;
  return line;
}

function number(value) {
  return value === null || value === undefined ? '–' : value.toFixed(3);
}

// The lab of the accept rule: p and q to drag, what follows from them, and coins to throw.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { chance, decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { announce, onLesson } from './happenings.js';
import { Toy, draw, keepChances, keptMass, overlap, residual } from './toy.js';
import { WORDS, mark, part, toyRows, wordName } from './toy_rows.js';

const MANY = 200;
/** What follows from p and q of a word. */
const NUMBERS = ['chance', 'mass', 'residual'];

/** What is in the lab. */
export function makeAccept() {
  return new Accept().elements;
}

class Accept {
  #toy = new Toy();
  #numbers = WORDS.map(() => NUMBERS.map(() => make('dd')));
  #rate = make('p', 'sv-accept-rate');
  #told = make('p', 'sv-accept-told', '', { role: 'status' });
  #tally = make('ul', 'sv-tally');
  #tallied = make('p', 'sv-tally-sum');
  #counts = [0, 0, 0];
  #numKept = 0;

  constructor() {
    const buttons = wrap(
      'div',
      'sv-lab-buttons',
      makeButton(t('learn.accept_one'), () => this.#throw(1)),
      makeButton(t('learn.accept_many'), () => this.#throw(MANY)),
      makeButton(t('learn.accept_reset'), () => this.#toy.reset()),
    );
    const rows = toyRows(this.#toy, (word) => [this.#numbersOf(word)]);
    this.elements = [rows, this.#rate, buttons, this.#told, this.#tallied, this.#tally];
    this.#toy.subscribe((p, q) => this.#show(p, q));
    onLesson('accept', () => this.#toy.reset());
  }

  #numbersOf(word) {
    const pairs = NUMBERS.map((name, index) =>
      wrap('div', '', make('dt', '', t(`learn.accept_${name}`)), this.#numbers[word][index]),
    );
    return wrap('dl', 'sv-toy-numbers', ...pairs);
  }

  #show(p, q) {
    const [chances, masses, rest] = [keepChances(p, q), keptMass(p, q), residual(p, q)];
    for (const word of WORDS) {
      const [kept, mass, residualShown] = this.#numbers[word];
      setText(kept, chances[word] === null ? t('learn.accept_never') : chance(chances[word]));
      setText(mass, chance(masses[word]));
      setText(residualShown, rest ? chance(rest[word]) : t('learn.accept_no_residual'));
    }
    const rate = overlap(p, q);
    setText(this.#rate, t('learn.accept_rate', { rate: decimals(rate, 2) }));
    this.#counts = [0, 0, 0];
    this.#numKept = 0;
    setText(this.#told, '');
    this.#showTally(p, rate);
    announce({ kind: 'accept', rate, thrown: 0 });
  }

  #throw(times) {
    const [p, q] = [this.#toy.distribution('p'), this.#toy.distribution('q')];
    const [chances, rest, rate] = [keepChances(p, q), residual(p, q), overlap(p, q)];
    let last;
    for (let n = 0; n < times; n++) {
      const guess = draw(q);
      const coin = Math.random();
      const isKept = coin < chances[guess];
      const word = isKept ? guess : draw(rest);
      this.#counts[word] += 1;
      if (isKept) this.#numKept += 1;
      last = { guess, coin, isKept, word };
    }
    setText(this.#told, times === 1 ? sentence(last, chances) : '');
    this.#showTally(p, rate);
    announce({ kind: 'accept', rate, thrown: times });
  }

  #showTally(p, rate) {
    const n = this.#counts.reduce((total, count) => total + count, 0);
    this.#tallied.hidden = this.#tally.hidden = n === 0;
    if (!n) return;
    const shares = { kept: chance(this.#numKept / n), rate: decimals(rate, 2) };
    const kept = t('learn.accept_kept_share', shares);
    this.#tallied.replaceChildren(make('b', '', t('learn.accept_tally', { n })), ` · ${kept}`);
    this.#tally.replaceChildren(
      ...WORDS.map((word) => {
        const share = this.#counts[word] / n;
        const shown = { word: wordName(word), share: chance(share), p: decimals(p[word], 2) };
        const bar = wrap('span', 'sv-law-bar', part('is-written', share), mark(p[word]));
        bar.setAttribute('aria-hidden', 'true');
        return wrap('li', '', make('span', '', t('learn.accept_share', shown)), bar);
      }),
    );
  }
}

function sentence({ guess, coin, isKept, word }, chances) {
  const shown = { word: wordName(guess), coin: chance(coin), chance: chance(chances[guess]) };
  if (isKept) return t('learn.accept_kept', shown);
  return t('learn.accept_thrown', { ...shown, other: wordName(word) });
}

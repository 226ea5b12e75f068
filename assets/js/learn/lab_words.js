// Two labs over the same three words: the accept rule with its coins, and four rules compared.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { chance, decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { announce } from './happenings.js';
import { RULES, draw, keepChances, keptMass, outcomeOf, overlap, residual, toy } from './toy.js';

const WORDS = [0, 1, 2];
const MANY = 200;
const SAME = 1e-9;

/** What is in the lab of the accept rule: p and q to drag, what follows from them, coins to throw. */
export function makeAccept() {
  return new Accept().elements;
}

/** What is in the lab of the four rules: each shows what it writes once it was tried. */
export function makeRules() {
  const tried = new Set();
  const cards = Object.keys(RULES).map((rule) => {
    const shown = make('div', 'sv-rule-shown', '', { role: 'status' });
    const button = makeButton(t(`learn.rules_${rule}`), () => {
      tried.add(rule);
      button.setAttribute('aria-expanded', 'true');
      shown.replaceChildren(...outcome(rule, toy.distribution('p'), toy.distribution('q')));
      announce({ kind: 'rules', tried: tried.size });
    });
    button.setAttribute('aria-expanded', 'false');
    const card = wrap('li', 'sv-rule', button, shown);
    card.dataset.rule = rule;
    return { rule, card, shown };
  });
  toy.subscribe((p, q) => {
    for (const { rule, shown } of cards) if (tried.has(rule)) shown.replaceChildren(...outcome(rule, p, q));
  });
  return [wrap('ol', 'sv-rules', ...cards.map(({ card }) => card))];
}

class Accept {
  #rows = WORDS.map((word) => new Row(word));
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
      makeButton(t('learn.accept_reset'), () => toy.reset()),
    );
    const rows = wrap('div', 'sv-toy', ...this.#rows.map((row) => row.element));
    this.elements = [rows, this.#rate, buttons, this.#told, this.#tallied, this.#tally];
    toy.subscribe((p, q) => this.#show(p, q));
  }

  #show(p, q) {
    const [chances, masses, rest] = [keepChances(p, q), keptMass(p, q), residual(p, q)];
    for (const [word, row] of this.#rows.entries()) {
      row.show({ p: p[word], q: q[word] }, [chances[word], masses[word], rest?.[word]]);
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
    const [p, q] = [toy.distribution('p'), toy.distribution('q')];
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

/** One word: its two bars to drag, and what follows from them. */
class Row {
  #inputs = {};
  #values = {};
  #numbers;

  constructor(word) {
    const numbers = ['chance', 'mass', 'residual'].map((name) =>
      wrap('div', '', make('dt', '', t(`learn.accept_${name}`)), make('dd')),
    );
    this.#numbers = numbers.map((pair) => pair.lastChild);
    this.element = make('div', 'sv-toy-row', '', { role: 'group', 'aria-label': wordName(word) });
    this.element.append(
      make('b', 'sv-toy-word', wordName(word)),
      wrap('div', 'sv-toy-bars', this.#bar('p', 'target', word), this.#bar('q', 'draft', word)),
      wrap('dl', 'sv-toy-numbers', ...numbers),
    );
  }

  #bar(which, who, word) {
    const name = t(`learn.accept_${who}_of`, { word: wordName(word) });
    const span = { type: 'range', min: 0, max: 100, step: 1, 'aria-label': name };
    const input = make('input', '', '', span);
    input.addEventListener('input', () => toy.set(which, word, Number(input.value)));
    const value = make('span', 'sv-toy-value', '', { 'aria-hidden': 'true' });
    this.#inputs[which] = input;
    this.#values[which] = value;
    return wrap('label', `sv-toy-bar is-${who}`, make('span', '', t(`learn.accept_${who}`)), input, value);
  }

  /** `shares` are p and q of the word; `numbers` its chance, kept mass and residual. */
  show(shares, numbers) {
    for (const [which, share] of Object.entries(shares)) {
      const [input, text] = [this.#inputs[which], decimals(share, 2)];
      input.value = Math.round(100 * share);
      input.style.setProperty('--sv-share', share);
      input.setAttribute('aria-valuetext', text);
      setText(this.#values[which], text);
    }
    this.#numbers.forEach((element, index) => setText(element, chance(numbers[index])));
  }
}

function sentence({ guess, coin, isKept, word }, chances) {
  const shown = { word: wordName(guess), coin: chance(coin), chance: chance(chances[guess]) };
  if (isKept) return t('learn.accept_kept', shown);
  return t('learn.accept_thrown', { ...shown, other: wordName(word) });
}

/** What a rule writes: bars, numbers, and whether it is p. */
function outcome(rule, p, q) {
  const { kept, added, written, rate } = outcomeOf(rule, p, q);
  const bars = make('div', 'sv-rule-bars', '', { 'aria-hidden': 'true' });
  for (const word of WORDS) {
    const parts = [part('is-kept', kept[word]), part('is-added', added[word]), mark(p[word])];
    bars.append(make('span', '', wordName(word)), wrap('span', 'sv-law-bar', ...parts));
  }
  const gap = Math.max(...written.map((mass, word) => Math.abs(mass - p[word])));
  const isExact = gap < SAME;
  const verdict = isExact ? t('learn.rules_exact') : t('learn.rules_off', { gap: chance(gap) });
  const [first, second, third] = written.map((mass) => chance(mass));
  return [
    bars,
    make('p', 'sv-rule-law', t('learn.rules_law', { first, second, third })),
    make('p', 'sv-rule-rate', t('learn.rules_kept', { rate: decimals(rate, 2) })),
    make('p', `sv-rule-verdict ${isExact ? 'is-exact' : 'is-off'}`, verdict),
    make('p', 'sv-rule-why', t(`learn.rules_${rule}_why`)),
  ];
}

/** The name of one of the words. */
function wordName(word) {
  return t(`learn.word_${word}`);
}

/** A part of a bar. */
function part(name, share) {
  const piece = make('i', name);
  piece.style.width = `${100 * share}%`;
  return piece;
}

/** The line at p across a bar. */
function mark(share) {
  const line = make('i', 'sv-law-mark');
  line.style.left = `${100 * share}%`;
  return line;
}

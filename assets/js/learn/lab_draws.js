// The lab of many draws: the next word, written alone and with checked guesses, beside p and a control.
import { make, makeButton, setText, visible, wrap } from '../page/dom.js';
import { chance, decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { announce, onLesson } from './happenings.js';
import { Toy, draw, keepChances, residual } from './toy.js';
import { WORDS, mark, part, wordName } from './toy_rows.js';

const MANY = 1000;
/** As many characters of the text before the word are shown. */
const BEFORE_CHARS = 48;
/** Differences up to so many standard deviations are luck. */
const LUCK_DEVIATIONS = 3;

/** Each way to write the next word draws one. The last is the control: it must miss p. */
const WAYS = {
  alone: ({ p }) => draw(p),
  checked: ({ p, q }) => {
    const guess = draw(q);
    return Math.random() < keepChances(p, q)[guess] ? guess : draw(residual(p, q));
  },
  unchecked: ({ q }) => draw(q),
};

/** What is in the lab; `example` is a position of a recorded race, else the words are a toy's. */
export function makeDraws(example) {
  return new Draws(example ? fromRace(example) : fromToy(), example).elements;
}

function fromRace({ words }) {
  return {
    names: words.map(({ text }) => (text === null ? t('learn.draws_others') : `“${text.trim() || visible(text)}”`)),
    p: words.map((each) => each.target_prob),
    q: words.map((each) => each.draft_prob),
  };
}

function fromToy() {
  const toy = new Toy();
  const names = WORDS.map((word) => `“${wordName(word)}”`);
  return { names, p: toy.distribution('p'), q: toy.distribution('q') };
}

class Draws {
  #words;
  #counts = {};
  #numDrawn = 0;
  #rows;
  #sum = make('p', 'sv-draws-sum', '', { role: 'status' });

  constructor(words, example) {
    this.#words = words;
    this.#rows = words.names.map((name, word) => new Row(name, words.p[word], words.q[word]));
    const buttons = wrap(
      'div',
      'sv-lab-buttons',
      makeButton(t('learn.draws_many', { n: MANY }), () => this.#draw(MANY)),
      makeButton(t('learn.draws_one'), () => this.#draw(1)),
      makeButton(t('learn.draws_reset'), () => this.#clear()),
    );
    const rows = wrap('div', 'sv-draws', ...this.#rows.map((row) => row.element));
    this.elements = [...aboutText(example), buttons, this.#sum, rows];
    onLesson('draws', () => this.#clear());
    this.#clear();
  }

  #clear() {
    this.#numDrawn = 0;
    for (const way of Object.keys(WAYS)) this.#counts[way] = this.#words.p.map(() => 0);
    this.#show();
  }

  #draw(times) {
    for (const [way, write] of Object.entries(WAYS)) {
      for (let n = 0; n < times; n++) this.#counts[way][write(this.#words)] += 1;
    }
    this.#numDrawn += times;
    this.#show();
    announce({ kind: 'draws', drawn: this.#numDrawn });
  }

  #show() {
    const n = this.#numDrawn;
    const shares = (way) => this.#counts[way].map((count) => (n ? count / n : null));
    const ways = Object.fromEntries(Object.keys(WAYS).map((way) => [way, shares(way)]));
    this.#rows.forEach((row, word) => {
      row.show(Object.fromEntries(Object.entries(ways).map(([way, each]) => [way, each[word]])));
    });
    setText(this.#sum, n ? this.#sentence(ways, n) : t('learn.draws_none'));
  }

  /** How far each way lies from p, beside what luck explains. */
  #sentence(ways, n) {
    const { p } = this.#words;
    const farthest = (each) => Math.max(...each.map((share, word) => Math.abs(share - p[word])));
    const luck = Math.max(...p.map((mass) => LUCK_DEVIATIONS * Math.sqrt((mass * (1 - mass)) / n)));
    const shown = Object.entries(ways).map(([way, each]) => [way, chance(farthest(each))]);
    return t('learn.draws_sum', { n, luck: chance(luck), ...Object.fromEntries(shown) });
  }
}

/** The text that the word comes after, and where p and q are from. */
function aboutText(example) {
  if (!example) return [];
  const before = example.before.slice(-BEFORE_CHARS);
  const line = make('p', 'sv-draws-before', `… ${before}`);
  line.append(make('b', '', ' ?'));
  return [line, make('p', 'sv-source', t('learn.draws_source'))];
}

/** A word with a bar for each way, all with a line at p. */
class Row {
  #bars = {};

  constructor(name, p, q) {
    const lines = Object.keys(WAYS).map((way) => {
      const filled = part(`is-${way}`, 0);
      const bar = wrap('span', 'sv-law-bar', filled, mark(p));
      bar.setAttribute('aria-hidden', 'true');
      const share = make('span', 'sv-toy-value');
      this.#bars[way] = { filled, share };
      return wrap('li', '', make('span', '', t(`learn.draws_${way}`)), bar, share);
    });
    const shown = { p: decimals(p, 3), q: decimals(q, 3) };
    const head = wrap('div', 'sv-draws-head', make('b', '', name), make('span', '', t('learn.draws_p', shown)));
    this.element = wrap('div', 'sv-draws-word', head, wrap('ul', 'sv-tally', ...lines));
  }

  /** Show the shares of the ways; null before anything was drawn. */
  show(shares) {
    for (const [way, { filled, share }] of Object.entries(this.#bars)) {
      filled.style.width = `${100 * (shares[way] ?? 0)}%`;
      setText(share, shares[way] === null ? '' : chance(shares[way]));
    }
  }
}

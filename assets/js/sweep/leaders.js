// The leaderboard of a sweep: one card a draft, the fastest first, with its verdict and the rules of thumb.
import { make, setText, wrap } from '../page/dom.js';
import { decimals, percent, times } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { divided, worthOf } from './verdicts.js';

/** The bar's full length. */
const MOST = 3;

/** All cards; those of a sweep that goes on stay where they are and change. */
export class Leaders {
  #list = make('ol', 'sv-leaders');
  #cards = new Map();

  constructor() {
    this.element = wrap('section', 'sv-sweep-card', make('h2', '', t('sweep_page.leaders')), this.#list);
    const note = make('p', 'sv-facts', t('sweep_page.leaders_about'));
    this.element.append(note);
  }

  show(results) {
    const { leaders } = results;
    const most = Math.max(MOST, ...leaders.map((leader) => leader.speedup_high ?? leader.speedup));
    const cards = leaders.map((leader, rank) => {
      if (!this.#cards.has(leader.draft)) this.#cards.set(leader.draft, new Card());
      const card = this.#cards.get(leader.draft);
      card.show(leader, rank, most, results.memoryOf(leader.lane));
      return card.element;
    });
    const isSame = cards.length === this.#list.children.length && cards.every((card, at) => card === this.#list.children[at]);
    if (!isSame) this.#list.replaceChildren(...cards);
  }
}

class Card {
  #name = make('h3');
  #badge = make('span', 'sv-badge');
  #speedup = make('b', 'sv-leader-speedup');
  #ends = make('span', 'sv-leader-ends');
  #bar = wrap('div', 'sv-leader-bar', make('i', 'sv-leader-range'), make('i', 'sv-leader-point'), make('i', 'sv-leader-one'));
  #figures = make('dl', 'sv-leader-figures');
  #first = make('summary');
  #told = make('p');
  #rules = make('p', 'sv-leader-rules');
  #isNew = true;
  #why = wrap('details', 'sv-leader-why', this.#first, this.#told);

  constructor() {
    this.#bar.ariaHidden = 'true';
    const title = wrap('div', 'sv-leader-title', this.#name, this.#badge);
    const number = wrap('div', 'sv-leader-number', this.#speedup, this.#ends);
    const top = wrap('div', 'sv-leader-top', wrap('div', '', title, number, this.#bar), this.#figures);
    this.element = wrap('li', 'sv-leader', top, this.#why, this.#rules);
  }

  show(leader, rank, most, memory) {
    const { cell, verdict } = leader;
    const worth = worthOf(verdict);
    const { told, rules, isContradicted } = divided(verdict);
    setText(this.#name, leader.draft);
    setText(this.#badge, t(`sweep_page.worth_${worth}`));
    this.element.dataset.worth = worth;
    setText(this.#speedup, times(leader.speedup));
    const ends = { low: decimals(leader.speedup_low, 2), high: decimals(leader.speedup_high, 2) };
    setText(this.#ends, leader.speedup_low === null ? t('sweep_page.unsure') : t('sweep_page.ends', ends));
    this.#bar.style.setProperty('--sv-low', (leader.speedup_low ?? leader.speedup) / most);
    this.#bar.style.setProperty('--sv-high', (leader.speedup_high ?? leader.speedup) / most);
    this.#bar.style.setProperty('--sv-at', leader.speedup / most);
    this.#bar.style.setProperty('--sv-one', 1 / most);
    this.#figures.replaceChildren(...figuresOf(leader, cell, memory));
    setText(this.#first, told[0]);
    setText(this.#told, told.slice(1).join(' '));
    setText(this.#rules, rules.length ? `${isContradicted ? '✗' : '✓'} ${rules.join(' ')}` : '');
    this.#rules.classList.toggle('is-contradicted', isContradicted);
    if (this.#isNew) this.#why.open = rank === 0;
    this.#isNew = false;
  }
}

function figuresOf(leader, cell, memory) {
  const gammas = { gamma: leader.gamma, low: leader.gamma_low, high: leader.gamma_high };
  const isSure = leader.gamma_low === leader.gamma_high;
  const figures = [
    ['gamma', isSure ? String(leader.gamma) : t('sweep_page.gamma_between', gammas)],
    ['alpha', percent(cell?.alpha)],
    ['tau', decimals(cell?.tau, 2)],
    ['guess', decimals(cell?.draft_cost, 3)],
    ['check', decimals(cell?.verify_cost, 2)],
    ['memory', memory ? t('sweep_page.megabytes', { n: decimals((memory.target + memory.draft) / 1e6, 0) }) : '–'],
  ];
  return figures.map(([name, value]) => {
    const label = make('dt', '', t(`sweep_page.figure_${name}`));
    label.title = t(`sweep_page.figure_${name}_title`);
    return wrap('div', '', label, make('dd', '', value));
  });
}

// One token of a round as a card that fills beat by beat: guess and q, p, rule and coin, fate.
import { make, visible } from '../core/dom.js';
import { chance, percent } from './rounds_format.js';
import { t } from '../core/strings.js';

const GUESSED = new Set(['accepted', 'rejected', 'discarded']);

/** A button that shows a token as far as it is known; choosing it shows the laws at its place. */
export class TokenCard {
  #token;
  #fate;
  #sample;

  constructor(token, outcome, { isGreedy, isResidual, choose }) {
    this.#token = token;
    this.#fate = outcome.name;
    this.#sample = make('span', 'sv-tok', visible(token.t));
    this.#sample.dataset.mark = outcome.mark;
    this.element = make('button', 'sv-guess', '', { type: 'button', 'aria-pressed': 'false' });
    this.element.dataset.fate = outcome.name;
    const top = make('span', 'sv-guess-token');
    top.append(this.#sample);
    const isGuess = GUESSED.has(outcome.name);
    this.element.append(top, ...(isGuess ? this.#guess(isGreedy) : this.#added(isGreedy, isResidual)));
    this.element.addEventListener('click', choose);
  }

  /** Show what is known: 'nothing', 'guessed', 'checked' or 'decided'. */
  update(known, isChosen) {
    this.element.dataset.known = known;
    this.element.setAttribute('aria-pressed', String(isChosen));
    const fate = known === 'decided' ? this.#fate : 'undecided';
    this.#sample.className = `sv-tok sv-${fate}`;
  }

  #guess(isGreedy) {
    const { q, p } = this.#token;
    const rows = [q === undefined ? note(t('rounds.no_q')) : meter('q', t('rounds.q'), q)];
    if (p !== undefined) rows.push(meter('p', t('rounds.p'), p));
    if (!isGreedy && this.#token.a !== undefined) rows.push(this.#rule());
    rows.push(make('span', 'sv-guess-verdict', t(`rounds.verdict_${this.#fate}`)));
    return rows;
  }

  /** The chance to be kept as a bar, and the coin that fell on it. */
  #rule() {
    const { q, a, u } = this.#token;
    const row = meter('rule', t(q === undefined ? 'rounds.rule_point' : 'rounds.rule'), a, chance(a));
    const coin = make('i', 'sv-guess-coin');
    coin.style.left = `${100 * u}%`;
    row.querySelector('.sv-guess-track').append(coin);
    const text = t(u < a ? 'rounds.coin_below' : 'rounds.coin_above', { coin: chance(u), chance: chance(a) });
    row.append(make('span', 'sv-guess-coin-text', text));
    return row;
  }

  #added(isGreedy, isResidual) {
    const id = this.#fate === 'correction' ? correctionText(isGreedy, isResidual) : this.#fate;
    const rows = [make('span', 'sv-guess-why', t(`rounds.added_${id}`))];
    if (this.#token.p !== undefined) rows.unshift(meter('p', t('rounds.p'), this.#token.p));
    rows.push(make('span', 'sv-guess-verdict', t(`fate.${this.#fate}`)));
    return rows;
  }
}

function correctionText(isGreedy, isResidual) {
  if (isGreedy) return 'choice';
  return isResidual ? 'residual' : 'rest';
}

function meter(kind, label, share, value = percent(share)) {
  const row = make('span', `sv-guess-row sv-guess-${kind}`);
  const track = make('span', 'sv-guess-track');
  const fill = make('i', 'sv-guess-fill');
  fill.style.width = `${100 * share}%`;
  track.append(fill);
  row.append(make('span', 'sv-guess-label', label), track, make('b', '', value));
  return row;
}

function note(text) {
  return make('span', 'sv-guess-row sv-guess-note', text);
}

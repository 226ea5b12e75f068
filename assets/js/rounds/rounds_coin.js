// "Throw the coin again": what might have been at one place, on the recorded probabilities.
import { make, setText, visible } from '../core/dom.js';
import { chance, percent } from './rounds_format.js';
import { lastRejected } from './rounds_laws.js';
import { t } from '../core/strings.js';

const MANY = 100;
const MOST_DOTS = 300;
const MOST_NAMES = 4;

/** Throws new coins for the chosen token; the race stays as it was. */
export class Coin {
  #reader;
  #drawn = [];
  #token = null;
  #tally = { thrown: 0, kept: 0, replaced: new Map() };
  #dots = make('div', 'sv-coin-dots', '', { 'aria-hidden': 'true' });
  #zone = make('i', 'sv-coin-zone');
  #mark = make('i', 'sv-coin-mark');
  #text = make('p', 'sv-coin-text', '', { 'aria-live': 'polite' });
  #count = make('p', 'sv-coin-count', '', { 'aria-live': 'polite' });
  #others = make('p', 'sv-coin-others');
  #source = make('p', 'sv-laws-note');
  #bench;

  constructor(reader) {
    this.#reader = reader;
    this.element = make('section', 'sv-round-coin');
    this.#bench = this.#makeBench();
  }

  /** Set the chosen token on the bench, where a coin decided over it and its fate is told. */
  update() {
    const { round, beats, chosen, book } = this.#reader;
    const isTold = this.#reader.known(chosen) === 'decided';
    const drawn = [round, chosen, isTold];
    if (drawn.every((value, place) => value === this.#drawn[place])) return;
    this.#drawn = drawn;
    const isCorrection = beats.fates[chosen] === 'correction';
    const token = isCorrection ? lastRejected(round, beats) : round.tokens[chosen];
    const why = reasonAgainst(token, beats.fates[chosen], isTold, book.start.greedy);
    const title = make('h3', '', t('rounds.coin_title'));
    if (!why) this.#set(token);
    const shown = why ? [make('p', 'sv-laws-note', t(`rounds.no_coin_${why}`))] : this.#bench;
    this.element.replaceChildren(title, ...shown);
  }

  #makeBench() {
    const track = make('div', 'sv-coin-track');
    track.append(this.#zone, this.#dots, this.#mark);
    const scale = make('div', 'sv-coin-scale', '', { 'aria-hidden': 'true' });
    scale.append(make('span', '', t('rounds.scale_kept')), make('span', '', t('rounds.scale_thrown')));
    const buttons = make('div', 'sv-coin-buttons');
    buttons.append(
      this.#button('rounds.throw_once', () => this.#throw(1)),
      this.#button('rounds.throw_many', () => this.#throw(MANY)),
      this.#button('rounds.throw_clear', () => this.#set(this.#token)),
    );
    const note = make('p', 'sv-laws-note', t('rounds.what_if'));
    return [track, scale, buttons, this.#text, this.#count, this.#others, this.#source, note];
  }

  #button(id, act) {
    const element = make('button', 'sv-button', t(id, { n: MANY }), { type: 'button' });
    element.addEventListener('click', act);
    return element;
  }

  #set(token) {
    this.#token = token;
    this.#tally = { thrown: 0, kept: 0, replaced: new Map() };
    this.#dots.replaceChildren();
    this.#zone.style.width = `${100 * token.a}%`;
    this.#mark.style.left = `${100 * token.u}%`;
    setText(this.#text, t('rounds.coin_recorded', { coin: chance(token.u), chance: chance(token.a) }));
    setText(this.#count, '');
    setText(this.#others, '');
    setText(this.#source, '');
  }

  #throw(times) {
    let last;
    const dots = document.createDocumentFragment();
    for (let turn = 0; turn < times; turn += 1) {
      last = this.#throwOne();
      dots.append(dot(last));
    }
    this.#dots.append(dots);
    while (this.#dots.childElementCount > MOST_DOTS) this.#dots.firstChild.remove();
    this.#tell(last, times);
  }

  #throwOne() {
    const coin = Math.random();
    const isKept = coin < this.#token.a;
    this.#tally.thrown += 1;
    if (isKept) {
      this.#tally.kept += 1;
      return { coin, isKept };
    }
    const instead = replacementFor(this.#token);
    if (instead !== null) {
      this.#tally.replaced.set(instead, (this.#tally.replaced.get(instead) ?? 0) + 1);
    }
    return { coin, isKept, instead };
  }

  #tell({ coin, isKept, instead }, times) {
    const { thrown, kept, replaced } = this.#tally;
    const values = { coin: chance(coin), chance: chance(this.#token.a), token: visible(instead ?? '') };
    const end = isKept ? 'kept' : instead ? 'replaced' : 'thrown';
    setText(this.#text, times === 1 ? t(`rounds.again_${end}`, values) : '');
    setText(this.#count, t('rounds.tally', { kept, n: thrown, expected: percent(this.#token.a) }));
    const names = [...replaced].sort((a, b) => b[1] - a[1]).slice(0, MOST_NAMES);
    const list = names.map(([token, n]) => t('rounds.times_drawn', { token: visible(token), n }));
    setText(this.#others, names.length ? t('rounds.replaced', { tokens: list.join(', ') }) : '');
    if (thrown > kept) setText(this.#source, t(`rounds.source_${sourceOf(this.#token)}`));
  }
}

/** Why there is no coin to throw here, or null where there is. */
function reasonAgainst(token, fate, isTold, isGreedy) {
  if (!isTold) return 'not_yet';
  if (isGreedy) return 'greedy';
  if (fate === 'discarded') return 'discarded';
  return token?.u === undefined || token.a === undefined ? 'own' : null;
}

/** Where a replacement is drawn from: the recorded residual, else what the top tens leave. */
function sourceOf(token) {
  if (token.r) return 'recorded';
  if (token.b !== undefined) return 'sibling';
  if (!token.g) return 'unknown';
  return token.q === undefined ? 'rest' : 'top';
}

function replacementFor(token) {
  const source = sourceOf(token);
  if (source === 'recorded') return draw(token.r);
  if (source === 'sibling' || source === 'unknown') return null;
  return draw(leftOf(token));
}

/** max(0, p − q) over the recorded top tens; a guess that was copied has all of q on itself. */
function leftOf(token) {
  const draft = new Map(token.q === undefined ? [[token.t, 1]] : token.d);
  const left = token.g.map(([text, share]) => [text, Math.max(0, share - (draft.get(text) ?? 0))]);
  return left.some(([, share]) => share > 0) ? left : token.g;
}

/** Draw a text from shares that need not add up to 1. */
function draw(law) {
  const total = law.reduce((sum, [, share]) => sum + share, 0);
  let rest = Math.random() * total;
  for (const [text, share] of law) {
    rest -= share;
    if (rest < 0) return text;
  }
  return law.at(-1)[0];
}

function dot({ coin, isKept }) {
  const element = make('i', isKept ? 'sv-dot is-kept' : 'sv-dot');
  element.style.left = `${100 * coin}%`;
  element.style.top = `${10 + 80 * Math.random()}%`;
  return element;
}

// The card that tells why one token was kept or thrown away.
import { make, visible } from './dom.js';
import { probabilityRows } from './laws.js';

const EMPTY =
  'Point at a token, or walk the lanes with the arrow keys, to see why it was kept or thrown away. ' +
  'Click or Enter pins it.';

/** Shows one token: its fate, the probabilities that decided, and both laws. */
export class Card {
  #outcomes;
  #pinned = null;
  #shown = null;

  constructor(outcomes) {
    this.#outcomes = outcomes;
    this.element = make('aside', 'sv-card', '', { 'aria-label': 'Why this token' });
    this.#clear();
  }

  /** Show a token, unless another one is pinned. */
  hover(entry) {
    if (!this.#pinned && entry !== this.#shown) this.#show(entry);
  }

  /** Keep a token shown until it is released or pinned again. */
  pin(entry) {
    if (this.#pinned === entry) return this.#unpin();
    this.#pinned?.element.classList.remove('is-pinned');
    this.#pinned = entry;
    entry.element.classList.add('is-pinned');
    this.#show(entry);
  }

  /** Let go of the token that is shown. */
  release() {
    if (this.#pinned) this.#unpin();
    else this.#clear();
  }

  /** The token whose laws belong to this one: itself, or the rejected guess that it replaces. */
  #judged({ token, outcome, tokens }) {
    if (outcome.css_class !== 'correction') return token;
    const isRejected = (each) => this.#outcomes[each.f].css_class === 'rejected';
    return tokens.findLast(isRejected) ?? token;
  }

  #unpin() {
    this.#pinned.element.classList.remove('is-pinned');
    const entry = this.#pinned;
    this.#pinned = null;
    this.#show(entry);
  }

  #clear() {
    this.#shown = null;
    this.element.classList.add('is-empty');
    this.element.replaceChildren(make('p', 'sv-card-hint', EMPTY));
  }

  #show(entry) {
    this.#shown = entry;
    const { token, outcome } = entry;
    this.element.classList.remove('is-empty');
    const head = make('div', 'sv-card-head');
    const sample = make('span', `sv-tok sv-${outcome.css_class}`, visible(token.t));
    sample.dataset.mark = outcome.mark;
    head.append(sample, make('span', 'sv-card-fate', outcome.label));
    const place = [`round ${entry.round}`];
    if (token.i !== undefined) place.push(`token ${token.i + 1} of the output`);
    const judged = this.#judged(entry);
    const parts = [
      head,
      make('p', 'sv-card-place', place.join(' · ')),
      make('p', 'sv-card-meaning', outcome.meaning),
      ...decision(token, outcome, Boolean(judged.r)),
      ...probabilityRows(judged, token.t),
    ];
    const hint = this.#pinned ? 'Pinned. Esc or another click lets go.' : 'Click or Enter pins.';
    parts.push(make('p', 'sv-card-hint', hint));
    this.element.replaceChildren(...parts);
  }
}

function decision(token, outcome, isResidual) {
  const rows = make('div', 'sv-meters');
  if (token.q !== undefined) rows.append(meter('draft q', token.q, 'draft'));
  if (token.p !== undefined) rows.append(meter('target p', token.p, 'target'));
  if (outcome.css_class === 'correction' && isResidual) {
    const sentence = 'Drawn from the residual: what the target wants more than the draft, max(0, p − q).';
    return [rows, make('p', 'sv-verdict', sentence)];
  }
  if (outcome.css_class === 'correction') {
    return [rows, make('p', 'sv-verdict', 'Greedy: it is the target’s first choice.')];
  }
  const isJudged = outcome.css_class === 'accepted' || outcome.css_class === 'rejected';
  if (!isJudged) return rows.hasChildNodes() ? [rows] : [];
  if (token.u === undefined) {
    const kept = outcome.css_class === 'accepted';
    const sentence = kept
      ? 'Greedy: kept, because it is the target’s first choice.'
      : 'Greedy: thrown away, because the target’s first choice is another.';
    return [rows, make('p', 'sv-verdict', sentence)];
  }
  const name = token.q === undefined ? 'accept p' : 'accept min(1, p/q)';
  rows.append(meter(name, token.a, 'accept', token.u));
  const sign = outcome.css_class === 'accepted' ? '<' : '≥';
  const fate = outcome.css_class === 'accepted' ? 'kept' : 'thrown away';
  const sentence = `coin ${token.u.toFixed(3)} ${sign} ${token.a.toFixed(3)}: ${fate}`;
  return [rows, make('p', 'sv-verdict', sentence)];
}

function meter(label, share, kind, coin) {
  const row = make('div', 'sv-meter');
  const track = make('div', 'sv-meter-track');
  const fill = make('div', `sv-meter-fill sv-law-${kind}`);
  fill.style.width = `${100 * share}%`;
  track.append(fill);
  if (coin !== undefined) {
    const tick = make('div', 'sv-coin', '', { title: `the coin: ${coin}` });
    tick.style.left = `${100 * coin}%`;
    track.append(tick);
  }
  row.append(make('span', 'sv-meter-label', label), track, make('b', '', percent(share)));
  return row;
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

// The question of "guess first": kept or thrown away? With the answer and the score of the visit.
import { make, setText, visible } from '../core/dom.js';
import { percent } from './rounds_format.js';
import { t } from '../core/strings.js';

/** Asks for one fate after the other while a round is open to guesses. */
export class Ask {
  #reader;
  #question = make('p', 'sv-ask-question');
  #answer = make('p', 'sv-ask-answer', '', { 'aria-live': 'polite' });
  #score = make('p', 'sv-ask-score');
  #kept;
  #thrown;
  #next;

  constructor(reader) {
    this.#reader = reader;
    this.element = make('section', 'sv-round-ask', '', { 'aria-label': t('rounds.guess_first') });
    this.#kept = button('rounds.say_kept', () => reader.guess(true));
    this.#thrown = button('rounds.say_thrown', () => reader.guess(false));
    this.#next = button('rounds.next', () => this.#goOn());
    const buttons = make('div', 'sv-ask-buttons');
    buttons.append(this.#kept, this.#thrown, this.#next);
    this.element.append(this.#answer, this.#question, buttons, this.#score);
  }

  /** Ask for what is open, tell the last answer, and the score. */
  update() {
    const { guesses, round, isOpen, beats, index, rounds } = this.#reader;
    this.element.hidden = !guesses.isOn;
    if (!guesses.isOn) return;
    const isAsking = this.element.contains(document.activeElement);
    this.#kept.hidden = !isOpen;
    this.#thrown.hidden = !isOpen;
    this.#next.hidden = isOpen || index >= rounds.length - 1;
    setText(this.#question, isOpen ? question(round.tokens[guesses.asked(round, beats)]) : '');
    setText(this.#answer, guesses.last?.round === round ? answer(round, guesses.last) : '');
    this.element.dataset.right = String(guesses.last?.round === round && guesses.last.isRight);
    const { numRight, numAsked } = guesses;
    setText(this.#score, numAsked ? t('rounds.score', { right: numRight, n: numAsked }) : '');
    // A button that goes away must not take the keyboard's place with it.
    if (isAsking) (isOpen ? this.#lastUsed() : this.#next).focus({ preventScroll: true });
  }

  #lastUsed() {
    return this.element.contains(document.activeElement) ? document.activeElement : this.#kept;
  }

  #goOn() {
    this.#reader.to(this.#reader.index + 1);
    this.#kept.focus({ preventScroll: true });
  }
}

function question({ t: text, q, p }) {
  const values = { token: visible(text), p: percent(p) };
  return q === undefined ? t('rounds.ask_point', values) : t('rounds.ask', { ...values, q: percent(q) });
}

function answer(round, { place, isRight }) {
  const { t: text, u, a } = round.tokens[place];
  const values = { token: visible(text) };
  const isKept = round.tokens[place].i !== undefined;
  const verdict = isRight ? 'right' : 'wrong';
  const fate = isKept ? 'kept' : 'thrown';
  const told = t(`rounds.answer_${verdict}_${fate}`, values);
  if (u === undefined) return told;
  return [told, t('rounds.had_chance', { chance: percent(a) })].join(' ');
}

function button(id, act) {
  const element = make('button', 'sv-button', t(id), { type: 'button' });
  element.addEventListener('click', act);
  return element;
}

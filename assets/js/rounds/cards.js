// The tokens of a chain as cards that fill beat by beat.
import { decision } from '../evidence/decision.js';
import { wrongStepAt } from '../evidence/wrong_step.js';
import { tellStep } from '../model/wrong_words.js';
import { make, makeButton, visible, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';

/** Make the cards of the round that is open, unless it is a tree; while its beats go on, only what is new appears. */
export function makeCards(cursor) {
  const element = make('div', 'sv-round-cards', '', { role: 'group', 'aria-label': t('rounds.cards') });
  let [drawn, beat, cards] = [null, 0, []];

  const build = (round) => {
    drawn = round;
    cards = round.tokens.map((_, index) => makeCard(cursor.evidenceOf(index), () => cursor.choose(index)));
    const elements = cards.map((card) => card.element);
    element.replaceChildren(...inRow(cursor.beats, elements));
  };

  const update = () => {
    const { round, chosen } = cursor;
    element.hidden = round.isTree;
    if (element.hidden) return;
    if (round !== drawn) element.classList.remove('is-lively');
    else if (cursor.beat !== beat) element.classList.toggle('is-lively', cursor.beat > beat);
    ({ beat } = cursor);
    const hadFocus = element.contains(document.activeElement);
    if (round !== drawn) build(round);
    cards.forEach((card, index) => {
      const { token, known } = cursor.evidenceOf(index);
      const fate = known === 'decided' ? token.fate.name : 'undecided';
      card.show(known, fate, index === chosen);
    });
    if (hadFocus && !element.contains(document.activeElement)) cards[chosen].element.focus();
  };
  return { element, update };
}

/** A button that shows a token as far as it is known; choosing it shows the distributions there. */
function makeCard(evidence, choose) {
  const { text, fate } = evidence.token;
  const sample = make('span', '', visible(text));
  sample.dataset.mark = fate.mark;
  const why = decision(evidence, true);
  const wrong = wrongStepAt(evidence, evidence.token);
  const element = makeButton('', choose, 'sv-guess');
  element.dataset.fate = fate.name;
  element.append(wrap('span', 'sv-guess-token', sample), why);
  const mark = make('span', 'sv-wrong-mark', `✗ ${t('wrong.mark')}`, { title: wrong ? tellStep(wrong, 'short') : '' });
  if (wrong) element.append(mark);
  const show = (known, fateShown, isChosen) => {
    element.dataset.known = why.dataset.known = known;
    // A wrong guess is seen to be one as soon as it is made, any other mistake where it happens.
    element.classList.toggle('is-error', wrong !== null && (known === 'decided' || (wrong.stage === 0 && known !== 'nothing')));
    element.setAttribute('aria-pressed', String(isChosen));
    sample.className = `sv-tok sv-${fateShown}`;
  };
  return { element, show };
}

/** The guesses, and what the target added after an arrow. */
function inRow({ guessed, added }, elements) {
  if (!guessed.length || !added.length) return elements;
  const arrow = make('span', 'sv-round-arrow', '→', { 'aria-hidden': 'true' });
  return [...elements.slice(0, added[0]), wrap('span', 'sv-round-added', arrow, ...elements.slice(added[0]))];
}

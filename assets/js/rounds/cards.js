// The tokens of a round as cards that fill beat by beat; a tree of guesses is drawn as one.
import { decision } from '../evidence/decision.js';
import { wrongStepAt } from '../evidence/wrong_step.js';
import { tellStep } from '../model/wrong_words.js';
import { make, makeButton, visible, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { layOut } from './tree.js';

const SVG = 'http://www.w3.org/2000/svg';
const PX_IN_REM = 16;

/** Make the cards of the round that is open; while its beats go on, only what is new appears. */
export function makeCards(cursor) {
  const element = make('div', 'sv-round-cards', '', { role: 'group', 'aria-label': t('rounds.cards') });
  let [drawn, beat, cards, edges] = [null, 0, [], []];

  const build = (round) => {
    [drawn, edges] = [round, []];
    cards = round.tokens.map((_, index) => makeCard(cursor.evidenceOf(index), () => cursor.choose(index)));
    const elements = cards.map((card) => card.element);
    element.classList.toggle('is-tree', round.isTree);
    if (round.isTree) edges = drawTree(element, round.tokens, elements);
    else element.replaceChildren(...inRow(cursor.beats, elements));
  };

  const update = () => {
    const { round, chosen } = cursor;
    if (round !== drawn) element.classList.remove('is-lively');
    else if (cursor.beat !== beat) element.classList.toggle('is-lively', cursor.beat > beat);
    ({ beat } = cursor);
    const hadFocus = element.contains(document.activeElement);
    if (round !== drawn) build(round);
    cards.forEach((card, index) => {
      const { token, known } = cursor.evidenceOf(index);
      const fate = known === 'decided' ? token.fate.name : 'undecided';
      card.show(known, fate, index === chosen);
      if (edges.length) Object.assign(edges[index].dataset, { known, fate });
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

/** Draw a tree and give its edges, one a token. */
function drawTree(container, tokens, elements) {
  const { width, height, corners, edges, rootY } = layOut(tokens);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const paths = edges.map((shape) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', 'sv-tree-edge');
    path.setAttribute('d', shape);
    return path;
  });
  svg.append(...paths);
  const root = make('span', 'sv-tree-root', '…', { 'aria-hidden': 'true' });
  root.style.top = rem(rootY);
  corners.forEach(({ x, y }, index) => Object.assign(elements[index].style, { left: rem(x), top: rem(y) }));
  const plane = wrap('div', 'sv-tree', svg, root, ...elements);
  Object.assign(plane.style, { width: rem(width), height: rem(height) });
  container.replaceChildren(plane);
  return paths;
}

function rem(px) {
  return `${px / PX_IN_REM}rem`;
}

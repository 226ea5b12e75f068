// The tokens of a round whose guesses branch: its tree, and what decided over the token that is looked at.
import { decision } from '../evidence/decision.js';
import { TreeView, placeInTree } from '../evidence/tree_view.js';
import { make, visible } from '../page/dom.js';
import { t } from '../page/strings.js';
import { redrawn } from './cursor.js';

/** Make the tree of the round that is open, where it is one; its tokens appear as its beats go on. */
export function makeBranches(cursor) {
  const view = new TreeView((index) => cursor.choose(index));
  const { element } = view;
  element.classList.add('sv-round-tree');
  let beat = 0;

  const update = () => {
    const { round, chosen } = cursor;
    element.hidden = !round.isTree;
    if (element.hidden) return;
    const isNew = !view.has(round);
    element.classList.toggle('is-lively', !isNew && cursor.beat > beat);
    ({ beat } = cursor);
    if (isNew) view.draw(round);
    view.show((index) => cursor.evidenceOf(index).known, chosen);
  };
  return { element, update };
}

/** Make what decided over the chosen token of a tree, in numbers and words. */
export function makeChosen(cursor) {
  const factsOf = () => {
    const { token, round, known } = cursor.evidenceOf();
    return [token, round, known];
  };
  return redrawn('sv-round-chosen', factsOf, (token, round, known) => {
    if (!round.isTree || known === 'nothing') return [];
    const fate = known === 'decided' ? token.fate.name : 'undecided';
    const sample = make('span', `sv-tok sv-${fate}`, visible(token.text));
    sample.dataset.mark = token.fate.mark;
    const head = make('p', 'sv-chosen-head');
    head.append(sample, make('span', '', placeInTree(token, round)));
    if (known === 'decided') head.append(make('b', '', t(`fate.${fate}`)));
    return [head, decision(cursor.evidenceOf())];
  });
}

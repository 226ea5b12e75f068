// Whether a lane guesses a chain or a tree, and how far that branches.
import { make, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { treesOf } from './store.js';

/** In the row of a lane `element` is the choice, and `sizes` are those of the tree that was chosen. */
export class TreeChoice {
  #menu;
  #fieldOf;
  #select = make('select');
  element = wrap('label', 'sv-editor-field', make('span', 'sv-spoken', t('editor.tree')), this.#select);
  sizes = make('div', 'sv-editor-detail sv-editor-sizes');

  /** `choose(tree)` is called as the visitor chooses; `fieldOf(name)` makes the control of a number. */
  constructor(menu, choose, fieldOf) {
    this.#menu = menu;
    this.#fieldOf = fieldOf;
    this.#select.addEventListener('change', () => choose(this.#select.value));
  }

  /** Show what the lane guesses, and what else it could. */
  show(lane) {
    const { tree = 'none' } = lane;
    const offered = treesOf(lane, this.#menu);
    const option = (value) => make('option', '', t(`tree.${value}`), { value, title: t(`tree.${value}_about`) });
    this.#select.replaceChildren(...offered.map(option));
    this.#select.value = tree;
    this.#select.title = t(`tree.${tree}_about`);
    this.element.hidden = offered.length < 2;
    this.sizes.replaceChildren(...(tree === 'none' ? [] : ['branches', 'budget'].map(this.#fieldOf)));
  }
}

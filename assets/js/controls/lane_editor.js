// The lanes of the next race: the target alone, which always runs, and one to three that draft.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { t } from '../page/strings.js';
import { watchChatSwitch } from './chat_switch.js';
import { LaneRow, dot, field } from './lane_row.js';
import { onOffer, shareMenu } from './menu.js';
import { apply, onChange } from './settings.js';

/** Draw the editor; `choose(json)` is called with the lanes that draft. */
export function mountLanes(container, menu, choose) {
  const editor = new LaneEditor(shareMenu(menu));
  container.append(...editor.elements);
  let shown = {};
  onChange(({ target, lanes }, origin) => {
    if (target === shown.target && lanes === shown.lanes) return;
    shown = { target, lanes };
    choose(JSON.stringify(lanes.map((lane) => ({ ...lane, target }))));
    // A row that is in use must not be drawn anew.
    if (!editor.has(origin)) editor.draw(target, lanes);
  });
  onOffer(() => editor.draw(shown.target, shown.lanes));
  watchChatSwitch();
}

class LaneEditor {
  #menu;
  #pair;
  /** @type {LaneRow[]} */
  #rows = [];
  #select = make('select');
  #picker = field('target', this.#select);
  #list = make('ol', 'sv-editor-list');
  #add = makeButton(t('editor.add'), () => this.#insert(this.#rows.length, this.#another()), 'sv-button sv-add');
  #count = make('span', 'sv-editor-count');
  /** Says to a screen reader what a button has just done. */
  #spoken = make('span', 'sv-spoken', '', { role: 'status' });

  constructor(menu) {
    this.#menu = menu;
    const head = wrap('div', 'sv-editor-head', make('h2', '', t('editor.title')), this.#targetPicker());
    const foot = wrap('div', 'sv-editor-foot', this.#add, this.#count, this.#spoken);
    this.elements = [head, this.#list, foot];
  }

  /** Whether a row is one of those that are shown. */
  has(row) {
    return this.#rows.includes(row);
  }

  /** Show these lanes. */
  draw(target, lanes) {
    this.#fillPicker();
    this.#select.value = target;
    this.#pair = this.#menu.pairs.find((pair) => pair.target === target);
    this.#rows = lanes.map((lane) => new LaneRow(lane, this.#pair, this.#menu, this.#acts()));
    this.#list.replaceChildren(alone(), ...this.#rows.map((row) => row.element));
    this.#number();
  }

  /** Choose the target, where a page offers several; the lanes follow it. */
  #targetPicker() {
    this.#select.addEventListener('change', () => apply({ target: this.#select.value }));
    return this.#picker;
  }

  #fillPicker() {
    const { pairs } = this.#menu;
    const options = (isHub) => pairs.filter((pair) => pair.is_hub === isHub).map(({ target }) => make('option', '', target));
    const ofHub = make('optgroup', '', '', { label: t('hub.title') });
    ofHub.append(...options(true));
    this.#select.replaceChildren(...options(false), ...(ofHub.children.length ? [ofHub] : []));
    this.#picker.hidden = pairs.length < 2;
  }

  #lanes() {
    return this.#rows.map((row) => row.lane);
  }

  #acts() {
    return {
      edit: (row) => apply({ lanes: this.#lanes() }, row),
      duplicate: (row) => this.#insert(this.#rows.indexOf(row) + 1, { ...row.lane, name: undefined }),
      remove: (row) => this.#remove(this.#rows.indexOf(row)),
    };
  }

  #insert(index, lane) {
    apply({ lanes: this.#lanes().toSpliced(index, 0, lane) });
    this.#rows[index].focus();
    setText(this.#spoken, t('editor.added', { number: index + 1 }));
  }

  #remove(index) {
    apply({ lanes: this.#lanes().toSpliced(index, 1) });
    this.#rows[Math.min(index, this.#rows.length - 1)].focus();
    setText(this.#spoken, t('editor.removed', { number: index + 1 }));
  }

  /** A lane to add: by a method that no lane has yet, if there is one. */
  #another() {
    const used = this.#rows.map((row) => row.lane.method);
    const { methods } = this.#pair;
    return { method: methods.find((method) => !used.includes(method)) ?? methods[0] };
  }

  #number() {
    const [n, most] = [this.#rows.length, this.#menu.max_drafting_lanes];
    const isFull = n >= most;
    this.#rows.forEach((row, index) => row.number(index + 1, { isOnly: n === 1, isFull }));
    setEnabled(this.#add, !isFull);
    setText(this.#count, t('editor.count', { n, most }));
  }
}

/** The first entry: it cannot be changed, since everything is measured against it. */
function alone() {
  const texts = [make('b', '', t('lane.baseline')), make('span', '', t('editor.alone'))];
  return wrap('li', 'sv-editor-lane is-alone', dot(), ...texts);
}

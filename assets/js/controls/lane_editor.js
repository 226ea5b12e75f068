// The lanes of the next race: the target alone, which always runs, and one to three that guess.
import { make, setText } from '../core/dom.js';
import { LaneRow } from './lane_row.js';
import { apply, onChange } from './settings.js';
import { t } from '../core/strings.js';

/** Draw the editor; `choose(json)` is called with the lanes that guess. */
export function mountLanes(place, menu, choose) {
  const editor = new LaneEditor(menu);
  place.append(...editor.elements);
  onChange(({ target, lanes }) => {
    choose(JSON.stringify(lanes.map((lane) => ({ ...lane, target }))));
    editor.show(target, lanes);
  });
}

class LaneEditor {
  #menu;
  #rows = [];
  #target = '';
  #select = make('select');
  #list = make('ol', 'sv-editor-list');
  #add = make('button', 'sv-button sv-add', t('editor.add'), { type: 'button' });
  #count = make('span', 'sv-editor-count');
  /** Says to a screen reader what a button has just done. */
  #spoken = make('span', 'sv-spoken', '', { role: 'status' });

  constructor(menu) {
    this.#menu = menu;
    const head = make('div', 'sv-editor-head');
    head.append(make('h2', '', t('editor.title')), this.#targetPicker());
    const foot = make('div', 'sv-editor-foot');
    foot.append(this.#add, this.#count, this.#spoken);
    this.elements = [head, this.#list, foot];
    this.#add.addEventListener('click', () => this.#insert(this.#rows.length, this.#another()));
  }

  /** Show these lanes, unless they are shown already: a control in use must not be drawn anew. */
  show(target, lanes) {
    if (target === this.#target && JSON.stringify(lanes) === JSON.stringify(this.#lanes())) return;
    this.#target = target;
    this.#select.value = target;
    this.#rows = lanes.map((lane) => new LaneRow(lane, this.#pair(), this.#menu, this.#tasks()));
    this.#list.replaceChildren(this.#alone(), ...this.#rows.map((row) => row.element));
    this.#number();
  }

  #lanes() {
    return this.#rows.map((row) => row.lane);
  }

  #pair() {
    return this.#menu.pairs.find((pair) => pair.target === this.#target);
  }

  /** Choose the target, where a page offers several; the lanes follow it. */
  #targetPicker() {
    const label = make('label', 'sv-editor-field');
    const names = this.#menu.pairs.map((pair) => pair.target);
    this.#select.append(...names.map((name) => make('option', '', name)));
    this.#select.addEventListener('change', () => apply({ target: this.#select.value }));
    label.append(make('span', '', t('editor.target')), this.#select);
    label.hidden = names.length < 2;
    return label;
  }

  /** The first entry: it cannot be changed, since everything is measured against it. */
  #alone() {
    const entry = make('li', 'sv-editor-lane is-alone');
    const dot = make('i', 'sv-lane-dot', '', { 'aria-hidden': 'true' });
    entry.append(dot, make('b', '', t('lane.baseline')), make('span', '', t('editor.alone')));
    return entry;
  }

  #tasks() {
    return {
      edit: () => apply({ lanes: this.#lanes() }),
      duplicate: (row) => this.#insert(this.#rows.indexOf(row) + 1, { ...row.lane, name: undefined }),
      remove: (row) => this.#remove(this.#rows.indexOf(row)),
    };
  }

  #insert(place, lane) {
    apply({ lanes: this.#lanes().toSpliced(place, 0, lane) });
    this.#rows[place].focus();
    setText(this.#spoken, t('editor.added', { number: place + 1 }));
  }

  #remove(place) {
    apply({ lanes: this.#lanes().toSpliced(place, 1) });
    this.#rows[Math.min(place, this.#rows.length - 1)].focus();
    setText(this.#spoken, t('editor.removed', { number: place + 1 }));
  }

  /** A lane to add: by a method that no lane has yet, if there is one. */
  #another() {
    const used = this.#rows.map((row) => row.lane.method);
    const { methods } = this.#pair();
    return { method: methods.find((method) => !used.includes(method)) ?? methods[0] };
  }

  #number() {
    const most = this.#menu.max_lanes;
    const isFull = this.#rows.length >= most;
    this.#rows.forEach((row, place) => {
      row.number(place + 1, { isOnly: this.#rows.length === 1, isFull });
    });
    this.#add.disabled = isFull;
    setText(this.#count, t('editor.count', { n: this.#rows.length, most }));
  }
}

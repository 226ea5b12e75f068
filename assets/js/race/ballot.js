// One question with its choices: a visitor presses one, a class's hands are counted with − and +.
import { make, setText } from '../page/dom.js';
import { t } from '../page/strings.js';

const MOST_VOTES = 999;

/** A question; `listener()` is called after every vote. */
export class Ballot {
  #legend = make('legend');
  #list = make('ul', 'sv-choices');
  #choices = [];
  #listener;

  constructor(listener) {
    this.#listener = listener;
    this.element = make('fieldset', 'sv-ballot');
    this.element.append(this.#legend, this.#list);
  }

  /** Ask this; votes stay where the number of choices does. Choices: `name`, and `about` in small. */
  ask(question, choices) {
    setText(this.#legend, question);
    if (choices.length !== this.#choices.length) {
      this.#choices = choices.map(() => new Choice((choice, votes) => this.#vote(choice, votes)));
      this.#list.replaceChildren(...this.#choices.map((choice) => choice.element));
      this.#list.dataset.choices = choices.length;
    }
    this.#choices.forEach((choice, index) => choice.name(choices[index]));
    this.#show();
  }

  /** How many votes were given, in all or for these choices alone. */
  total(indexes = [...this.#choices.keys()]) {
    return indexes.reduce((sum, index) => sum + this.#choices[index].votes, 0);
  }

  clear() {
    for (const choice of this.#choices) choice.votes = 0;
    this.mark([], '', '');
    this.#show();
  }

  lock(isLocked) {
    this.element.disabled = isLocked;
    this.#show();
  }

  /** Mark these choices as `now` or `right` and write `text` on them; all others are cleared. */
  mark(indexes, state, text) {
    this.#choices.forEach((choice, index) => {
      const isMarked = indexes.includes(index);
      choice.mark(isMarked ? state : '', isMarked ? text : '');
    });
  }

  /** A press moves the only vote there is, and adds one where a class votes; − and + set a number. */
  #vote(choice, votes) {
    if (votes !== null) choice.votes = Math.min(MOST_VOTES, Math.max(0, votes));
    else if (this.total() > 1) choice.votes = Math.min(MOST_VOTES, choice.votes + 1);
    else {
      const wasChosen = choice.votes === 1;
      for (const each of this.#choices) each.votes = 0;
      choice.votes = wasChosen ? 0 : 1;
    }
    this.#show();
    this.#listener();
  }

  #show() {
    const most = Math.max(1, ...this.#choices.map((choice) => choice.votes));
    for (const choice of this.#choices) choice.show(this.element.disabled, this.total(), most);
  }
}

class Choice {
  #button = make('button', 'sv-vote', '', { type: 'button' });
  #name = make('span', 'sv-choice-name');
  #about = make('span', 'sv-choice-about');
  #field;
  #less = make('button', 'sv-hand', '−', { type: 'button' });
  #more = make('button', 'sv-hand', '+', { type: 'button' });
  #told = make('span', 'sv-told-votes');
  #mark = make('span', 'sv-choice-mark');
  votes = 0;

  constructor(vote) {
    const limits = { type: 'number', min: '0', max: String(MOST_VOTES), inputmode: 'numeric' };
    this.#field = make('input', 'sv-hands', '', limits);
    this.#button.append(this.#name, this.#about);
    this.#button.addEventListener('click', () => vote(this, null));
    this.#less.addEventListener('click', () => vote(this, this.votes - 1));
    this.#more.addEventListener('click', () => vote(this, this.votes + 1));
    this.#field.addEventListener('change', () => vote(this, Math.round(Number(this.#field.value))));
    const count = make('span', 'sv-count');
    count.append(this.#less, this.#field, this.#more);
    const foot = make('span', 'sv-choice-foot');
    foot.append(count, this.#told, this.#mark);
    this.element = make('li', 'sv-choice');
    this.element.append(this.#button, foot);
  }

  name({ name, about = '' }) {
    setText(this.#name, name);
    setText(this.#about, about);
    this.#less.setAttribute('aria-label', t('predict.less', { choice: name }));
    this.#more.setAttribute('aria-label', t('predict.more', { choice: name }));
    this.#field.setAttribute('aria-label', t('predict.hands', { choice: name }));
  }

  show(isLocked, total, most) {
    // One visitor's choice, or what most of a class chose.
    this.#button.setAttribute('aria-pressed', String(this.votes === most));
    this.#field.value = this.votes;
    setText(this.#told, isLocked && total ? t('predict.votes', { n: this.votes }) : '');
    this.element.classList.toggle('is-locked', isLocked);
    this.element.style.setProperty('--share', total > 1 ? this.votes / total : 0);
  }

  mark(state, text) {
    if (this.element.dataset.state !== state) this.element.dataset.state = state;
    setText(this.#mark, text);
  }
}

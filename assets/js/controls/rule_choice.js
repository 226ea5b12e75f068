// "Break it": by which rule a lane keeps its guesses; all but one are wrong, and say what they do.
import { keyOf } from '../model/names.js';
import { make, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';
import { rulesOf } from './store.js';

/** A folded line in the row of a lane; `choose(rule)` is called as the visitor chooses. */
export class RuleChoice {
  #menu;
  #summary = make('summary');
  #select = make('select');
  #about = make('p', 'sv-rule-about');
  #offered = '';

  constructor(lane, menu, choose) {
    this.#menu = menu;
    this.#select.addEventListener('change', () => choose(this.#select.value));
    const picker = wrap('label', 'sv-editor-field', make('span', '', t('rule.choose')), this.#select);
    this.element = wrap('details', 'sv-editor-break', this.#summary, picker, this.#about);
    this.show(lane);
    if (lane.rule) this.element.setAttribute('open', '');
  }

  /** Show the rule of a lane, and those that its method can be broken by. */
  show({ method, rule = 'right' }) {
    const rules = rulesOf(method, this.#menu);
    if (rules.join() !== this.#offered) {
      this.#offered = rules.join();
      this.#select.replaceChildren(...rules.map((each) => make('option', '', t(`rule.${keyOf(each)}`), { value: each })));
    }
    this.#select.value = rule;
    setText(this.#summary, t(rule === 'right' ? 'rule.break' : 'rule.broken'));
    setText(this.#about, t(`rule.${keyOf(rule)}_about`));
  }
}

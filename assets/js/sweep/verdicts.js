// What is said of a draft, divided into what was measured and what rules of thumb say of it.
import { translate } from '../page/strings.js';

/** What the rules of thumb say, and whether the measurement bears them out, by the ends of texts' ids. */
const RULE = /^sweep\.(rule|size)_/;
const CONTRADICTED = ['sweep.rule_too_strict', 'sweep.rule_too_kind', 'sweep.size_pays', 'sweep.size_fails'];

/** A verdict's sentences apart: what was measured, and what rules of thumb say of it. */
export function divided({ sentences }) {
  const rules = sentences.filter(({ id }) => RULE.test(id));
  return {
    told: sentences.filter(({ id }) => !RULE.test(id)).map(translate),
    rules: rules.map(translate),
    isContradicted: rules.some(({ id }) => CONTRADICTED.includes(id)),
  };
}

/** Which of `yes`, `no` and `unclear` a verdict is. */
export function worthOf({ is_worth_it: isWorthIt }) {
  return isWorthIt === null ? 'unclear' : isWorthIt ? 'yes' : 'no';
}

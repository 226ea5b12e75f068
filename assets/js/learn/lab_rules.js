// The lab of the four rules: each shows what it writes from its own p and q once it was tried.
import { make, makeButton, wrap } from '../page/dom.js';
import { chance, decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { announce, onLesson } from './happenings.js';
import { RULES, Toy, faultOf, isAlwaysRight, outcomeOf } from './toy.js';
import { WORDS, mark, part, toyRows, wordName } from './toy_rows.js';

/** What is in the lab. */
export function makeRules() {
  const toy = new Toy();
  const tried = new Set();
  const cards = Object.keys(RULES).map((rule) => makeCard(rule, () => tryRule(rule)));
  const draw = () => {
    const [p, q] = [toy.distribution('p'), toy.distribution('q')];
    for (const { rule, button, shown } of cards) {
      button.setAttribute('aria-expanded', String(tried.has(rule)));
      shown.replaceChildren(...(tried.has(rule) ? outcome(rule, p, q) : []));
    }
  };
  const tryRule = (rule) => {
    tried.add(rule);
    draw();
    announce({ kind: 'rules', tried: tried.size });
  };
  toy.subscribe(draw);
  onLesson('rules', () => {
    tried.clear();
    toy.reset();
  });
  const reset = makeButton(t('learn.accept_reset'), () => toy.reset());
  const side = wrap('div', 'sv-rules-toy', toyRows(toy), wrap('div', 'sv-lab-buttons', reset));
  return [side, wrap('ol', 'sv-rules', ...cards.map(({ card }) => card))];
}

function makeCard(rule, act) {
  const shown = make('div', 'sv-rule-shown', '', { role: 'status' });
  const button = makeButton(t(`learn.rules_${rule}`), act, 'sv-button', { 'aria-expanded': 'false' });
  const card = wrap('li', 'sv-rule', button, shown);
  card.dataset.rule = rule;
  return { rule, card, button, shown };
}

/** What a rule writes: bars, numbers, and whether it is p. */
function outcome(rule, p, q) {
  const { kept, added, written, rate } = outcomeOf(rule, p, q);
  const bars = make('div', 'sv-rule-bars', '', { 'aria-hidden': 'true' });
  for (const word of WORDS) {
    const parts = [part('is-kept', kept[word]), part('is-added', added[word]), mark(p[word])];
    bars.append(make('span', '', wordName(word)), wrap('span', 'sv-law-bar', ...parts));
  }
  const fault = faultOf(written, p);
  const [first, second, third] = written.map((mass) => chance(mass));
  return [
    bars,
    make('p', 'sv-rule-law', t('learn.rules_law', { first, second, third })),
    make('p', 'sv-rule-rate', t('learn.rules_kept', { rate: decimals(rate, 2) })),
    verdict(rule, fault),
    make('p', 'sv-rule-why', t(fault || isAlwaysRight(rule) ? `learn.rules_${rule}_why` : 'learn.rules_hidden')),
  ];
}

/** Says where mass was gained and lost, or that none was; a wrong rule can be right by luck. */
function verdict(rule, fault) {
  if (fault) {
    const { often, gained, seldom, lost } = fault;
    const shown = { gained: chance(gained), lost: chance(lost) };
    const text = t('learn.rules_off', { often: wordName(often), seldom: wordName(seldom), ...shown });
    return make('p', 'sv-rule-verdict is-off', text);
  }
  const isRight = isAlwaysRight(rule);
  const style = `sv-rule-verdict ${isRight ? 'is-exact' : 'is-lucky'}`;
  return make('p', style, t(isRight ? 'learn.rules_exact' : 'learn.rules_lucky'));
}

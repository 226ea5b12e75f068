// Four rules for keeping guesses: which of them write the target's law, and how many guesses each keeps.
import { make } from '../core/dom.js';
import { mark, part, wordName } from './sandbox_accept.js';
import { announce } from './sandbox_news.js';
import { makeButton, makeLab } from './sandbox_parts.js';
import { t } from '../core/strings.js';
import { toy } from './toy.js';
import { RULES, outcomeOf } from './toy_laws.js';

const SAME = 1e-9;

/** Draw the lab: each rule shows what it writes once it was tried. */
export function makeRules() {
  const lab = makeLab('rules');
  const tried = new Set();
  const list = make('ol', 'sv-rules');
  const cards = Object.keys(RULES).map((rule) => {
    const card = make('li', 'sv-rule');
    const shown = make('div', 'sv-rule-shown', '', { role: 'status' });
    const button = makeButton(t(`learn.rules_${rule}`), () => {
      tried.add(rule);
      button.setAttribute('aria-expanded', 'true');
      shown.replaceChildren(...outcome(rule));
      announce('rules', { tried: tried.size });
    });
    button.setAttribute('aria-expanded', 'false');
    card.dataset.rule = rule;
    card.append(button, shown);
    list.append(card);
    return { rule, shown };
  });
  lab.append(list);
  toy.subscribe(() => {
    for (const { rule, shown } of cards) if (tried.has(rule)) shown.replaceChildren(...outcome(rule));
  });
  return lab;
}

function outcome(rule) {
  const [p, q] = [toy.law('p'), toy.law('q')];
  const { kept, added, law, rate } = outcomeOf(rule, p, q);
  const gap = Math.max(...law.map((mass, word) => Math.abs(mass - p[word])));
  const isExact = gap < SAME;
  const bars = make('div', 'sv-rule-bars', '', { 'aria-hidden': 'true' });
  for (const [word, mass] of kept.entries()) {
    const bar = make('span', 'sv-law-bar');
    bar.append(part('is-kept', mass), part('is-added', added[word]), mark(p[word]));
    bars.append(make('span', '', wordName(word)), bar);
  }
  const [first, second, third] = law.map((mass) => mass.toFixed(3));
  const verdict = isExact ? t('learn.rules_exact') : t('learn.rules_off', { gap: gap.toFixed(3) });
  const told = make('p', `sv-rule-verdict ${isExact ? 'is-exact' : 'is-off'}`, verdict);
  return [
    bars,
    make('p', 'sv-rule-law', t('learn.rules_law', { first, second, third })),
    make('p', 'sv-rule-rate', t('learn.rules_kept', { rate: rate.toFixed(2) })),
    told,
    make('p', 'sv-rule-why', t(`learn.rules_${rule}_why`)),
  ];
}

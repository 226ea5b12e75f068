// What one token costs: the weights that a pass reads, its time, and their quotient.
import { make } from '../core/dom.js';
import { boundOf, passNumbers, sourceOf } from './lesson_notes.js';
import { makeLab } from './sandbox_parts.js';
import { t } from '../core/strings.js';

/** Draw the numbers, and keep them up with the races. */
export function makeMemory(facts) {
  const lab = makeLab('memory');
  const shown = make('div', 'sv-memory');
  lab.append(shown);
  facts.subscribe(() => {
    const numbers = passNumbers(facts);
    if (!numbers) return shown.replaceChildren(make('p', '', t('learn.memory_unknown')));
    shown.replaceChildren(
      make('p', '', t('learn.memory_size', numbers)),
      make('p', '', t('learn.memory_step', numbers)),
      make('p', 'sv-memory-rate', t('learn.memory_rate', numbers)),
      make('p', '', boundOf(facts)),
      make('p', 'sv-source', sourceOf(facts)),
    );
  });
  return lab;
}

// A belief to be judged true or false before it is turned over.
import { make } from '../core/dom.js';
import { t } from '../core/strings.js';

/** Draw a belief; `answered()` is called when it was turned over and read. */
export function makeBelief({ id, isTrue }, answered) {
  const box = make('div', 'sv-belief');
  const choices = make('div', 'sv-coach-buttons');
  const turn = (said) => {
    const name = `${said === isTrue ? 'right' : 'wrong'}_${isTrue ? 'yes' : 'no'}`;
    const verdict = make('b', said === isTrue ? 'is-right' : 'is-wrong', t(`coach.${name}`));
    const truth = make('p', 'sv-belief-truth', '', { role: 'status', tabindex: '-1' });
    truth.append(verdict, ` ${t(`lesson.belief_${id}_truth`)}`);
    const on = choice('on', answered);
    on.classList.add('is-main');
    choices.replaceChildren(on);
    choices.before(truth);
    truth.focus({ preventScroll: true });
    choices.scrollIntoView({ block: 'nearest' });
  };
  choices.append(
    choice('yes', () => turn(true)),
    choice('no', () => turn(false)),
  );
  box.append(make('b', '', t('coach.question')), make('q', '', t(`lesson.belief_${id}`)), choices);
  return box;
}

function choice(name, act) {
  const button = make('button', 'sv-button', t(`coach.${name}`), { type: 'button' });
  button.addEventListener('click', act);
  return button;
}

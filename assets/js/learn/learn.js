// The tab Learn: the lessons with their progress, and the labs, which need no lesson.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { plain } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { openTab } from '../page/tabs.js';
import { setUp, startLesson } from './coach.js';
import { factsOf } from './facts.js';
import { makeAccept } from './lab_accept.js';
import { makeCurve, makeStrip } from './lab_costs.js';
import { makeDraws } from './lab_draws.js';
import { makeMemory } from './lab_memory.js';
import { makeRules } from './lab_rules.js';
import { LESSONS, progress } from './lessons.js';

/** Draw the tab. */
export function mountLearn(container, data) {
  const facts = factsOf(data);
  const race = (gamma) => {
    setUp({ lanes: [{ method: 'draft-model', gamma }] }, data, gamma);
    openTab('race');
  };
  const costs = [lab('memory', makeMemory(facts, data.large, data.devices, data.target)), lab('strip', makeStrip(facts))];
  const odds = [lab('accept', makeAccept()), lab('draws', makeDraws(data.distributions))];
  const columns = [costs, odds].map((column) => wrap('div', 'sv-lab-column', ...column));
  const labs = wrap('div', 'sv-labs', ...columns, lab('rules', makeRules()), lab('curve', makeCurve(facts, race)));
  const play = wrap('header', 'sv-learn-head', make('h2', '', t('learn.play')), make('p', '', t('learn.play_text')));
  container.append(makeHead(), makeCards(), play, labs);
}

function makeHead() {
  const count = make('p', 'sv-learn-count');
  const begin = makeButton('', () => startLesson((progress.next ?? LESSONS[0]).id), 'sv-button is-main');
  const over = makeButton(t('learn.start_over'), () => progress.clear());
  const row = wrap('div', 'sv-learn-row', begin, over, count);
  progress.subscribe(() => {
    setText(count, t('learn.progress', { done: progress.count, count: LESSONS.length }));
    setText(begin, progress.count && progress.next ? t('learn.go_on') : t('learn.from_here'));
    over.hidden = progress.count === 0;
  });
  return wrap('header', 'sv-learn-head', make('h2', '', t('learn.title')), make('p', '', t('learn.text')), row);
}

function makeCards() {
  const cards = LESSONS.map(({ id }, index) => {
    const state = make('span', 'sv-lesson-state');
    const card = makeButton('', () => startLesson(id), 'sv-lesson');
    card.append(
      make('span', 'sv-lesson-number', plain(index + 1), { 'aria-hidden': 'true' }),
      make('b', '', t(`lesson.${id}_title`)),
      make('span', 'sv-lesson-sum', t(`lesson.${id}_sum`)),
      state,
    );
    return { id, card, state };
  });
  progress.subscribe(() => {
    for (const { id, card, state } of cards) {
      const isDone = progress.has(id);
      card.classList.toggle('is-done', isDone);
      setText(state, t(isDone ? 'learn.done_again' : 'learn.begin'));
    }
  });
  return wrap('ol', 'sv-lessons', ...cards.map(({ card }) => wrap('li', '', card)));
}

/** The frame of a lab with its title and its one or two sentences. */
function lab(name, children) {
  const frame = make('section', `sv-lab sv-lab-${name}`, '', { 'aria-labelledby': `sv-lab-${name}` });
  frame.append(
    make('h3', '', t(`learn.${name}_title`), { id: `sv-lab-${name}` }),
    make('p', 'sv-lab-text', t(`learn.${name}_text`)),
    ...children,
  );
  return frame;
}

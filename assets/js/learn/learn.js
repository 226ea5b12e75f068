// The tab Learn: the lessons with their progress, and the labs, which need no lesson.
import { startLesson } from './coach.js';
import { make, setText } from '../core/dom.js';
import { factsOf } from './lesson_facts.js';
import { setUp } from './lesson_preset.js';
import { progress } from './lesson_progress.js';
import { LESSONS } from './lessons.js';
import { makeAccept } from './sandbox_accept.js';
import { makeCurve } from './sandbox_curve.js';
import { makeMemory } from './sandbox_memory.js';
import { makeButton } from './sandbox_parts.js';
import { makeRules } from './sandbox_rules.js';
import { makeStrip } from './sandbox_strip.js';
import { t } from '../core/strings.js';
import { openTab } from '../core/tabs.js';

/** Draw the tab. */
export function mountLearn(place, data, scenes) {
  const facts = factsOf(data, scenes.race);
  const race = (gamma) => {
    setUp({ lanes: [{ method: 'draft-model', gamma }] }, data, gamma);
    openTab('race');
  };
  const labs = make('div', 'sv-labs');
  const costs = make('div', 'sv-lab-column');
  costs.append(makeMemory(facts), makeStrip(facts));
  labs.append(costs, makeAccept(), makeRules(), makeCurve(facts, race));
  const play = make('header', 'sv-learn-head');
  play.append(make('h2', '', t('learn.play')), make('p', '', t('learn.play_text')));
  place.append(makeHead(), makeCards(), play, labs);
}

function makeHead() {
  const head = make('header', 'sv-learn-head');
  const count = make('p', 'sv-learn-count');
  const begin = makeButton('', () => startLesson((progress.next ?? LESSONS[0]).id), 'is-main');
  const over = makeButton(t('learn.start_over'), () => progress.clear());
  const row = make('div', 'sv-learn-row');
  row.append(begin, over, count);
  head.append(make('h2', '', t('learn.title')), make('p', '', t('learn.text')), row);
  progress.subscribe(() => {
    setText(count, t('learn.progress', { done: progress.count, count: LESSONS.length }));
    setText(begin, progress.count && progress.next ? t('learn.go_on') : t('learn.from_here'));
    over.hidden = progress.count === 0;
  });
  return head;
}

function makeCards() {
  const list = make('ol', 'sv-lessons');
  const cards = LESSONS.map(({ id }, place) => {
    const title = t(`lesson.${id}_title`);
    const card = make('button', 'sv-lesson', '', { type: 'button' });
    const state = make('span', 'sv-lesson-state');
    card.append(
      make('span', 'sv-lesson-number', String(place + 1), { 'aria-hidden': 'true' }),
      make('b', '', title),
      make('span', 'sv-lesson-sum', t(`lesson.${id}_sum`)),
      state,
    );
    card.addEventListener('click', () => startLesson(id));
    const item = make('li');
    item.append(card);
    list.append(item);
    return { id, card, state };
  });
  progress.subscribe(() => {
    for (const { id, card, state } of cards) {
      const isDone = progress.has(id);
      card.classList.toggle('is-done', isDone);
      setText(state, t(isDone ? 'learn.done_again' : 'learn.begin'));
    }
  });
  return list;
}

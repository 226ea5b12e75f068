// What flags say, and who still writes between the first finish and the last.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEnglish } from './strings_of_the_page.js';
import { flagOf, secondHalf } from '../../assets/js/model/finish.js';
import { narrate } from '../../assets/js/model/narration.js';
import { Race } from '../../assets/js/model/race.js';

useEnglish();
const ALONE = { method: 'baseline', target: 'a-target' };
const GUESSING = { method: 'draft-model', target: 'a-target', draft: 'a-draft', gamma: 4 };

/** A race whose lanes took rounds of so many ms, each of so many tokens; `ended` are the lanes that are done. */
function raced(lanes, ended) {
  const race = new Race();
  race.take({ event: { event: 'RaceStarted', specs: [ALONE, GUESSING].slice(0, lanes.length) } });
  lanes.forEach(({ ms, tokens, rounds }, lane) => {
    for (let index = 0; index < rounds; index += 1) {
      const emitted = Array.from({ length: tokens }, () => ({ text: 'a', source: 'target' }));
      const round = { index, position: index * tokens, drafted: [], emitted, draft_ms: 0, verify_ms: ms, other_ms: 0 };
      race.take({ event: { event: 'RoundFinished', lane, round } });
    }
  });
  for (const [lane, reason] of Object.entries(ended)) {
    race.take({ event: { event: 'LaneFinished', lane: Number(lane), stop_reason: reason, error: null } });
  }
  race.take({ status: { state: 'running' } });
  return race;
}

const alone = (rounds) => ({ ms: 100, tokens: 1, rounds });
const guessing = (rounds) => ({ ms: 150, tokens: 3, rounds });

test('a lane that is done first says how far the target alone was at that time', () => {
  const early = raced([alone(7), guessing(4)], { 1: 'length' });
  assert.equal(flagOf(early, early.lanes[1]), 'done at 0.60 s, alone at token 6');
  assert.equal(flagOf(early, early.lanes[0]), null);
  const late = raced([alone(12), guessing(4)], { 0: 'length', 1: 'length' });
  assert.equal(flagOf(late, late.lanes[1]), 'done at 0.60 s, alone at token 6');
  assert.equal(flagOf(late, late.lanes[0]), 'done at 1.20 s, with guesses at 0.60 s');
});

test('where guessing loses, both flags say so', () => {
  const race = raced([alone(3), guessing(4)], { 0: 'length', 1: 'eos' });
  assert.equal(flagOf(race, race.lanes[0]), 'done at 0.30 s, before all that guess');
  assert.equal(flagOf(race, race.lanes[1]), 'done at 0.60 s, alone at 0.30 s');
});

test('a lane that was cut short has no flag', () => {
  const race = raced([alone(3), guessing(4)], { 0: 'cancelled', 1: 'cancelled' });
  assert.deepEqual(race.lanes.map((lane) => flagOf(race, lane)), [null, null]);
});

test('the second half is told while one lane still writes, and not before or after', () => {
  assert.equal(secondHalf(raced([alone(5), guessing(3)], {})), null);
  assert.equal(secondHalf(raced([alone(12), guessing(4)], { 0: 'length', 1: 'length' })), null);
  const race = raced([alone(7), guessing(4)], { 1: 'length' });
  const { first, last, seconds, n } = secondHalf(race);
  assert.deepEqual([first, last, seconds, n], [race.lanes[1], race.lanes[0], '0.60', 7]);
  assert.match(narrate(race), /done at 0\.60 s\. The target alone writes on.* token 7\.$/);
});

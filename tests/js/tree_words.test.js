// What is said of a round whose guesses branch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, draftProbOf, isPicked, isPointMass, takenBefore } from '../../assets/js/evidence/decision.js';
import { narrate } from '../../assets/js/model/narration.js';
import { Race } from '../../assets/js/model/race.js';
import { packetsOf } from '../../assets/js/model/replay.js';
import { Cursor } from '../../assets/js/rounds/cursor.js';
import { tellRound } from '../../assets/js/rounds/story.js';
import { readJson, useEnglish } from './strings_of_the_page.js';

useEnglish();

/** The race of the stored trees. */
function storedRace() {
  const race = new Race();
  for (const { events = [] } of packetsOf(readJson('../fixtures/trace_tree.json'))) {
    for (const event of events) race.take({ event });
  }
  return race;
}

/** What Round by round tells at each stage of a round. */
function toldAt(index) {
  const cursor = new Cursor();
  cursor.take({ name: 'race', playback: { race: storedRace() } });
  cursor.to(index);
  const { beats } = cursor;
  return [0, ...beats.ends].map((beat) => {
    cursor.toBeat(beat);
    return tellRound(cursor);
  });
}

test('the narration tells a tree by its guesses, its levels and what became of it', () => {
  const race = storedRace();
  race.take({ status: { state: 'running' } });
  assert.equal(narrate(race), 'Round 2: a tree of 3 guesses, 2 levels, 2 kept, 1 bonus.');
  [race.latest.round] = race.lanes[1].rounds;
  assert.equal(narrate(race), 'Round 1: a tree of 7 guesses, 3 levels, 2 kept, 1 corrected.');
});

test('a round is told stage by stage', () => {
  const made = 'A tree of 7 guesses was made, 3 levels deep: 3 ways for the text to go on.';
  const [drafting, drafted, checked, decided] = toldAt(0);
  assert.equal(drafting, 'The tree of guesses grows, level by level.');
  assert.equal(drafted, made);
  assert.match(checked, /One pass of the target looked at 8 places at once, each of which sees only the guesses that it follows/);
  const words = [
    made,
    'The target followed the branch “\u00a0dog ran”.',
    '1 guess that was tried before was thrown away.',
    '1 guess for the next place was thrown away, so “\u00a0away” was drawn from what it left of the target’s law.',
    '3 guesses were discarded without a look.',
    'One pass of the target, 3 tokens.',
  ];
  assert.equal(decided, words.join(' '));
});

test('what was thrown away before a guess took its share of both laws', () => {
  const [round] = storedRace().lanes[1].rounds;
  assert.deepEqual(takenBefore(round.tokens[1], round), { num: 1, share: 0.2 });
  assert.deepEqual(takenBefore(round.tokens[0], round), { num: 0, share: 0 });
});

test('a guess that was picked and not drawn has what the draft believed, and counts as q = 1', () => {
  const drawn = storedRace().lanes[1].rounds[0].tokens[1];
  const picked = { ...drawn, draft_prob: null };
  const copied = { ...picked, top_draft: [] };
  assert.deepEqual([drawn, picked, copied].map(isPointMass), [false, true, true]);
  assert.deepEqual([drawn, picked, copied].map(isPicked), [false, true, false]);
  assert.deepEqual([drawn, picked, copied].map(draftProbOf), [0.3, 0.3, null]);
  assert.deepEqual(draftOf(picked), drawn.top_draft);
  assert.deepEqual(draftOf(copied), [[11, ' dog', 1]]);
});

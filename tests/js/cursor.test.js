// Moving through a race's rounds, and following it while it runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Race } from '../../assets/js/model/race.js';
import { Cursor } from '../../assets/js/rounds/cursor.js';

const SPECS = [{ method: 'baseline' }, { method: 'draft-model', gamma: 2 }];
const SAMPLING = { temperature: 1 };

/** A panel with a race whose second lane has as many rounds; `add()` gives it one more. */
function panelWith(numRounds, isBusy = false) {
  const race = new Race();
  const request = { prompt: '', sampling: SAMPLING };
  race.take({ event: { event: 'RaceStarted', specs: SPECS, request } });
  race.take({ status: { state: isBusy ? 'running' : 'finished' } });
  const panel = { name: 'race', playback: { race } };
  const add = () => {
    const round = roundAfter(race.lanes[1]);
    race.take({ event: { event: 'RoundFinished', lane: 1, round } });
  };
  for (let index = 0; index < numRounds; index += 1) add();
  return { panel, add };
}

/** A round of two guesses: the first is kept, the second is not. */
function roundAfter({ rounds }) {
  const drafted = ['accepted', 'rejected'].map((outcome, index) => ({ outcome, text: 'a', parent: index - 1 }));
  const emitted = ['draft', 'correction'].map((source) => ({ source, text: 'b' }));
  const times = { draft_ms: 1, verify_ms: 2, other_ms: 0 };
  return { index: rounds.length, position: 2 * rounds.length, gamma: 2, drafted, emitted, ...times };
}

test('a finished race is opened at its first round, in the lane that drafts', () => {
  const cursor = new Cursor();
  assert.equal(cursor.take(panelWith(3).panel), true);
  assert.deepEqual([cursor.laneIndex, cursor.index, cursor.beat], [1, 0, cursor.beats.last]);
});

test('a running race is followed until the reader goes back, and again from its end', () => {
  const { panel, add } = panelWith(2, true);
  const cursor = new Cursor();
  const grow = () => {
    add();
    assert.equal(cursor.take(panel), false);
    return cursor.index;
  };
  cursor.take(panel);
  assert.equal(grow(), 2);
  cursor.to(0);
  assert.equal(grow(), 0);
  cursor.to(99);
  assert.equal(grow(), 4);
});

test('a race of another panel is opened once it has begun, and not before', () => {
  const cursor = new Cursor();
  cursor.take(panelWith(2).panel);
  const idle = { name: 'compare', playback: { race: new Race() } };
  assert.equal(cursor.take(idle), false);
  assert.equal(cursor.panel.name, 'race');
  const { panel } = panelWith(1);
  assert.equal(cursor.take(panel), true);
  assert.equal(cursor.panel, panel);
});

test('stages lead over the ends of a round', () => {
  const cursor = new Cursor();
  cursor.take(panelWith(2).panel);
  const { ends } = cursor.beats;
  cursor.stage(-1);
  assert.equal(cursor.beat, ends[1]);
  cursor.stage(1);
  cursor.stage(1);
  assert.deepEqual([cursor.index, cursor.beat], [1, ends[0]]);
  cursor.stage(-1);
  assert.deepEqual([cursor.index, cursor.beat], [0, ends[2]]);
});

test('with "guess first" no fate is told before it was guessed', () => {
  const cursor = new Cursor();
  cursor.take(panelWith(1).panel);
  const all = () => cursor.round.tokens.map((_, index) => cursor.evidenceOf(index).known);
  cursor.setGuessing(true);
  assert.deepEqual(all(), ['checked', 'guessed', 'nothing']);
  cursor.toBeat(cursor.beats.last);
  assert.deepEqual(all(), ['checked', 'guessed', 'nothing']);
  cursor.guess(true);
  assert.deepEqual(all(), ['decided', 'checked', 'nothing']);
  cursor.guess(true);
  assert.deepEqual(all(), ['decided', 'decided', 'decided']);
  assert.deepEqual([cursor.numRight, cursor.numGuessed, cursor.chosen], [1, 2, 1]);
  cursor.guess(true);
  assert.equal(cursor.numGuessed, 2);
});

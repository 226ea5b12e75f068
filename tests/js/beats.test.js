// What is known of a round at each of its beats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FATES } from '../../assets/js/model/fates.js';
import { Beats } from '../../assets/js/rounds/beats.js';

/** Beats of a round whose tokens have these fates, and these chances to be kept. */
function beatsOf(fates, chances = []) {
  const tokens = fates.map((name, index) => ({ fate: FATES[name], accept_prob: chances[index] ?? null }));
  return new Beats({ tokens });
}

/** What is known of all tokens at each beat. */
function story(beats) {
  return Array.from({ length: beats.last + 1 }, (_, beat) =>
    beats.fates.map((_, index) => beats.knownOf(index, beat)[0]).join(''),
  );
}

test('a rejection takes the guesses after it along, and the correction comes last', () => {
  const beats = beatsOf(['accepted', 'rejected', 'discarded', 'correction']);
  assert.deepEqual(beats.ends, [3, 4, 7]);
  // n, g, c, d: nothing, guessed, checked, decided.
  assert.deepEqual(story(beats), ['nnnn', 'gnnn', 'ggnn', 'gggn', 'cccn', 'dccn', 'dddn', 'dddd']);
  assert.deepEqual([0, 3, 4, 5, 7].map((beat) => beats.stageOf(beat)), [0, 0, 1, 2, 2]);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((beat) => beats.indexAt(beat)), [0, 1, 2, undefined, 0, 1, 3]);
});

test('a plain step has a pass and a token', () => {
  const beats = beatsOf(['plain']);
  assert.deepEqual(beats.ends, [0, 1, 2]);
  assert.deepEqual(story(beats), ['n', 'n', 'd']);
  assert.equal(beats.telling(), 0);
});

test('a text that ends within the guesses has nothing added', () => {
  const beats = beatsOf(['accepted', 'discarded']);
  assert.equal(beats.last, 4);
  assert.deepEqual(story(beats).slice(-2), ['cc', 'dd']);
});

test('in a tree, siblings are decided in the order in which they were judged', () => {
  const beats = beatsOf(['rejected', 'accepted', 'discarded', 'accepted', 'bonus']);
  assert.deepEqual(beats.kept, [1, 3]);
  assert.deepEqual(story(beats).slice(beats.ends[1]), ['ccccn', 'dcccn', 'ddccn', 'ddddn', 'ddddd']);
});

test('what was rejected is worth a look first, else the narrowest escape', () => {
  assert.equal(beatsOf(['rejected', 'accepted', 'rejected', 'correction']).telling(), 2);
  assert.equal(beatsOf(['accepted', 'accepted', 'bonus'], [0.9, 0.3]).telling(), 1);
  assert.equal(beatsOf(['accepted', 'accepted', 'bonus']).telling(), 0);
});

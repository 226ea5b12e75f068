// What is known of a round at each of its beats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FATES } from '../../assets/js/model/fates.js';
import { TokenTree } from '../../assets/js/model/tree.js';
import { Beats } from '../../assets/js/rounds/beats.js';

/** Beats of a round whose tokens have these fates, these chances to be kept and these parents, else those of a chain. */
function beatsOf(fates, chances = [], parents = fates.map((_, index) => index - 1)) {
  const tokens = fates.map((name, index) => ({
    text: 'a',
    position: null,
    fate: FATES[name],
    accept_prob: chances[index] ?? null,
    parent: parents[index],
  }));
  return new Beats({ tokens, tree: new TokenTree(tokens) });
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

test('a tree grows level by level, and what a decision settles is told with it', () => {
  const fates = ['rejected', 'accepted', 'discarded', 'discarded', 'accepted', 'bonus'];
  const beats = beatsOf(fates, [], [-1, -1, -1, 0, 1]);
  assert.deepEqual(beats.ends, [2, 3, 7]);
  assert.deepEqual(beats.kept, [1, 4]);
  assert.deepEqual(story(beats), ['nnnnnn', 'gggnnn', 'gggggn', 'cccccn', 'dccdcn', 'ddddcn', 'dddddn', 'dddddd']);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((beat) => beats.indexAt(beat)), [0, 3, undefined, 0, 1, 4, 5]);
});

test('what was rejected is worth a look first, else the narrowest escape', () => {
  assert.equal(beatsOf(['rejected', 'accepted', 'rejected', 'correction'], [], [-1, -1, 1]).telling(), 2);
  assert.equal(beatsOf(['accepted', 'accepted', 'bonus'], [0.9, 0.3]).telling(), 1);
  assert.equal(beatsOf(['accepted', 'accepted', 'bonus']).telling(), 0);
});

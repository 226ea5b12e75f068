// The coins of a lane are counted as the decoder throws them, and the two lanes of a fork know where it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coinOf, flippedOf, forkOf, withFlipped } from '../../assets/js/model/coins.js';

const guess = (accept, draw) => ({ fate: { isJudged: draw !== undefined }, accept_prob: accept, draw });
const bonus = { fate: { isJudged: false } };
const [certain, kept, thrown, never] = [guess(1, 0.3), guess(0.6, 0.3), guess(0.6, 0.8), guess(0.6)];

test('each judged guess has the next coin, and what was never judged has none', () => {
  const lane = { rounds: [{ tokens: [certain, kept, bonus] }, { tokens: [thrown, never] }] };
  assert.equal(coinOf(lane, kept), 1);
  assert.equal(coinOf(lane, thrown), 2);
  for (const token of [certain, bonus, never]) assert.equal(coinOf(lane, token), null);
});

test('a fork is known to the lane that it was made in, and to the one it was made from', () => {
  const spec = { method: 'draft-model', draft: 'D', gamma: 4, rule: 'right', flipped_coins: [] };
  const [forked, other] = [{ ...spec, flipped_coins: [0] }, { ...spec, gamma: 2 }];
  const specs = [spec, forked, other];
  assert.deepEqual(specs.map((each) => forkOf({ spec: each, specs })), [0, 0, null]);
  assert.equal(forkOf({ spec, specs: [spec] }), null);
  const again = { ...spec, flipped_coins: [0, 5] };
  assert.deepEqual([forked, again].map((each) => forkOf({ spec: each, specs: [forked, again] })), [5, 5]);
  assert.equal(forkOf({ spec: again, specs: [again] }), 5);
});

test('one more coin is flipped, those after it fall as they do, and a flipped one falls back', () => {
  assert.deepEqual(withFlipped([], 4), [4]);
  assert.deepEqual(withFlipped([4], 9), [4, 9]);
  assert.deepEqual(withFlipped([4, 9], 6), [4, 6]);
  assert.deepEqual(withFlipped([4, 9], 9), [4]);
  assert.deepEqual(withFlipped([4, 9], 4), []);
});

test('traces of earlier versions name one flipped coin or none', () => {
  assert.deepEqual([{ flipped_coin: 3 }, { flipped_coin: null }, {}].map(flippedOf), [[3], [], []]);
});

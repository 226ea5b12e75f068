// Lanes are named by the same table that the command line's names are held to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson, useEnglish } from './strings_of_the_page.js';
import { aboutLane, laneName } from '../../assets/js/model/names.js';

useEnglish();

for (const { about, specs, names } of readJson('../fixtures/lane_names.json')) {
  test(about, () => {
    assert.deepEqual(specs.map((spec, index) => laneName({ spec, specs, index })), names);
  });
}

test('what a lane runs names its tree', () => {
  const chain = { method: 'draft-model', target: 'T', draft: 'D', gamma: 5 };
  assert.equal(aboutLane(chain), 'guesses by D, γ = 5');
  const tree = { ...chain, tree: 'dynamic', branches: 4, budget: 24 };
  assert.equal(aboutLane(tree), 'guesses by D, γ = 5, dynamic tree, 4 branches, 24 nodes');
});

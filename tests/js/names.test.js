// Lanes are named by the same table that the command line's names are held to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson, useEnglish } from './strings_of_the_page.js';
import { laneName } from '../../assets/js/model/names.js';

useEnglish();

for (const { about, specs, names } of readJson('../fixtures/lane_names.json')) {
  test(about, () => {
    assert.deepEqual(specs.map((spec, index) => laneName({ spec, specs, index })), names);
  });
}

// What a pass costs, as rows of a table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchRows, passRows } from '../../assets/js/learn/lab_own_costs.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

test('a wide pass is told beside the pass over one token', () => {
  const pass = (tokens, ms) => ({ kind: 'pass', tokens, ms });
  assert.deepEqual(passRows([pass(1, 10), pass(8, 12)]), [
    ['1', '10.0 ms', '1.0×', '10.0 ms'],
    ['8', '12.0 ms', '1.2×', '1.5 ms'],
  ]);
});

test('a check of several texts is told in steps of as many', () => {
  const batch = (texts, tokens, ms) => ({ kind: 'batch', texts, tokens, ms });
  const news = [batch(1, 1, 10), batch(1, 5, 12), batch(16, 1, 40), batch(16, 5, 160), batch(32, 1, 50)];
  assert.deepEqual(batchRows(news), [
    ['1', '10.0 ms', '12.0 ms', '1.2×'],
    ['16', '40.0 ms', '160 ms', '4.0×'],
  ]);
});

// What a fit brought, as the Compare tab says it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf, figuresOf, rowsOf } from '../../assets/js/compare/fitted.js';
import { readJson, useEnglish } from './strings_of_the_page.js';

useEnglish();

const FIT = readJson('../fixtures/fit_v1.json');
const draft = (fit) => ({ fit, expected_tokens: [1.466, 2.1839] });
const spaced = (text) => text.replaceAll('\u00a0', ' ');

test('alpha is told before and after with its counts', () => {
  const [alpha, greedy, length] = figuresOf(draft(FIT), 4);
  assert.deepEqual(alpha.values.map(spaced), ['32 %', '57 %']);
  assert.equal(alpha.detail, '+25 points; mean of 973 tokens');
  assert.deepEqual(greedy.values.map(spaced), ['34 %', '61 %']);
  assert.equal(length.label, 'tokens a target pass at γ = 4');
  assert.deepEqual(length.values, ['1.47', '2.18']);
});

test('a loss is told as a loss, and means over unlike counts apart', () => {
  const worse = { ...FIT, before: { ...FIT.after, num_tokens: 1200 }, after: FIT.before };
  const [{ detail }] = figuresOf(draft(worse), 4);
  assert.equal(detail, '−25 points; means of 1,200 and 973 tokens');
});

test('the facts are sentences with numbers', () => {
  assert.equal(
    factsOf(FIT),
    'Fitted on 44 of 55 prompts in 3 min 7 s: the target wrote 20,480 tokens, the draft was ' +
      'trained on 161,000. Measured on 11 held-out prompts that it never saw.',
  );
  assert.ok(factsOf({ ...FIT, seconds: 59.6 }).includes('in 1 min 0 s'));
  assert.ok(factsOf({ ...FIT, seconds: 12 }).includes('in 12 s'));
});

test('rows are sorted by alpha and keep their index in the file', () => {
  const rows = rowsOf(FIT);
  assert.deepEqual(rows.map((row) => row.number), FIT.held_out.map((_, index) => index + 1));
  for (const [index, row] of rows.entries()) {
    assert.ok(index === 0 || rows[index - 1].alpha_after >= row.alpha_after);
    assert.equal(row.prompt, FIT.held_out[row.index].prompt);
  }
});

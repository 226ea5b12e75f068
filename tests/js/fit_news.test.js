// A fit as the page has it, folded from the server's news, and what is said of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf } from '../../assets/js/compare/fit_form.js';
import { doing, resultOf } from '../../assets/js/compare/fit_live.js';
import { bestOf, noNews, withNews } from '../../assets/js/compare/fit_news.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

const measured = (step, alpha) => ({ kind: 'measured', step, alpha, seconds: 10 + step, is_best: false, num_tokens: 9 });
const progress = (phase, done, total, left) => ({ kind: 'progress', phase, done, total, seconds_left: left, loss: null });
const fold = (...items) => items.reduce(withNews, noNews());
const spaced = (text) => text.replaceAll('\u00a0', ' ');

test('the best point is the first of the highest', () => {
  assert.equal(bestOf(noNews()), null);
  const fit = fold(measured(0, 0.1), measured(5, 0.3), measured(9, 0.3), measured(12, 0.2));
  assert.equal(bestOf(fit).step, 5);
  assert.equal(fit.points.length, 4);
});

test('what is done is said with the time left, which the last news that knew it gave', () => {
  assert.equal(doing(noNews()), 'Waiting for the models, or for a race to end …');
  const written = fold(progress('writing', 40, null, 93));
  assert.equal(doing(written), 'The target has written 40 texts so far. About 1 min 33 s left.');
  const reading = withNews(written, progress('reading', 3, 40, null));
  assert.equal(doing(reading), 'The target has read 3 of 40 texts again, for its probabilities. About 1 min 33 s left.');
  const judged = withNews(written, progress('judging', 1, 8, null));
  assert.ok(doing(judged).endsWith('1 done.'));
});

test('the end is told for what it was', () => {
  const over = { state: 'finished', text: null };
  assert.equal(resultOf(noNews(), { state: 'idle', text: null }), '');
  assert.ok(resultOf(noNews(), { state: 'stopped', text: null }).startsWith('Stopped before the draft'));
  assert.equal(resultOf(noNews(), { state: 'error', text: 'no room' }), 'No room.');
  const ended = fold({ kind: 'ended', end: 'plateau', step: 30, best_step: 0 });
  const none = withNews(ended, { kind: 'no_help', before: 0.693, after: 0.653 });
  assert.ok(spaced(resultOf(none, over)).includes('α was 69.3 % before and 65.3 % after, so nothing was written'));
  assert.ok(resultOf(none, over).endsWith('the weights of step 0 were the best.'));
  const draft = { name: 'fitted/x', fit: { before: { alpha: 0.1 }, after: { alpha: 0.5 } } };
  const made = withNews(ended, { kind: 'done', draft, pair: null });
  assert.ok(spaced(resultOf(made, over)).startsWith('Done: α rose from 10.0 % to 50.0 %'));
});

test('prompts are different lines that are not empty', () => {
  assert.deepEqual(linesOf('one\r\n\n two\none\n  \n'), ['one', ' two']);
});

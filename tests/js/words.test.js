// What is said of a target, of a prompt, of loops and of a slower lane, from the server's numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEnglish } from './strings_of_the_page.js';
import { aboutTarget, lengthAfterPaste } from '../../assets/js/controls/prompt_field.js';
import { aboutFamiliarity, aboutLoop } from '../../assets/js/race/notes.js';
import { tellRemedy, tellSum } from '../../assets/js/race/why_slower.js';

useEnglish();

test('a target is told with its weights and what it has read, as far as that is known', () => {
  const kinds = ['stories', 'code'];
  assert.equal(
    aboutTarget('mine', { num_parameters: 5_610_000, kinds, languages: ['en'] }),
    'mine: 5.6 million weights. It has read simple stories and small Python, in English.',
  );
  assert.equal(
    aboutTarget('mine', { num_parameters: 494_000_000 }),
    'mine: 494 million weights. Nothing is known here about what it has read.',
  );
  assert.match(aboutTarget('mine', {}), /nothing is known here about its size/);
});

test('what is pasted takes the place of what was selected', () => {
  const field = { value: 'a'.repeat(10), selectionStart: 2, selectionEnd: 6 };
  assert.equal(lengthAfterPaste(/** @type {any} */ (field), 'xyz'), 9);
});

test('a prompt is told beside the texts that it was compared with', () => {
  const familiarity = { log_prob: -5.87, usual_log_prob: -1.2, share_below: 0.094, num_tokens: 9, num_texts: 1378 };
  const told = aboutFamiliarity(familiarity);
  assert.match(told, /Less probable: 9\.4\s% of 1,378 held-out texts \(log-probability -5\.9 a token over 9 tokens; usual is -1\.2/);
  assert.match(aboutFamiliarity({ ...familiarity, share_below: 0 }), /hardly any of 1,378/);
});

test('a loop inflates α only where α is higher in it', () => {
  const loop = { start: 6, period: 9, num_tokens: 122 };
  const counts = { loop, num_judged_inside: 111, num_judged_before: 16 };
  assert.match(aboutLoop({ ...counts, alpha_inside: 0.9, alpha_before: 0.5 }), /from token 7 on .* inflates α: 90\s% there/);
  assert.doesNotMatch(aboutLoop({ ...counts, alpha_inside: 0.43, alpha_before: 0.5 }), /inflates/);
  assert.match(aboutLoop({ ...counts, alpha_inside: 0.9, alpha_before: null }), /easy: α is 90\s% there/);
  assert.doesNotMatch(aboutLoop({ ...counts, alpha_inside: null, alpha_before: null }), /α/);
});

const LANE = {
  spec: { method: 'draft-model', gamma: 5 },
  metrics: { draft_cost: 0.14, verify_cost: 1, alpha: 1 / 11, num_accepted: 1, num_rejected: 10 },
  slowness: {
    num_rounds: 10,
    num_drafting_rounds: 10,
    guesses: 5,
    drafting_round_cost: 1.7,
    round_cost: 1.7,
    tokens_per_round: 1.1,
    expected_speedup: 1.1 / 1.7,
    speedup: 0.68,
  },
};

test('the sum of a slower lane is told in its own numbers', () => {
  assert.equal(
    tellSum(LANE),
    'A round cost 5·c + v = 5·0.14 + 1.00 = 1.70 passes of the target and brought 1.10 tokens. ' +
      'That makes 0.65×; measured was 0.68×.',
  );
  const slowness = { ...LANE.slowness, num_drafting_rounds: 4, round_cost: 1.28 };
  assert.match(tellSum({ ...LANE, slowness }), /^The 4 of 10 rounds that guessed cost .* a round cost 1\.28 passes/);
});

test('every remedy is told with its numbers, and those of a method in its words', () => {
  const remedies = [
    { kind: 'gamma', value: 2, speedup: 1.03 },
    { kind: 'no_gamma', tokens: 1.09, cost: 1.14 },
    { kind: 'cheaper_guess', value: 0.02 },
    { kind: 'better_guess', value: 0.41 },
    { kind: 'cheaper_check', speedup: 1.2 },
    { kind: 'more_guesses', value: 0.4 },
    { kind: 'quiet_machine', value: 0.4 },
  ];
  for (const method of ['draft-model', 'early-exit', 'prompt-lookup', 'eagle3', 'mtp']) {
    const told = remedies.map((remedy) => tellRemedy(/** @type {any} */ (remedy), { ...LANE, spec: { method, gamma: 5 } }));
    for (const sentence of told) assert.doesNotMatch(sentence, /[{}]|undefined|^slower\./);
    assert.match(told[0], /γ = 2 instead of 5: about 1\.03×/);
    assert.match(told[3], /41\s% of the judged ones are kept; here 9\s% were \(1 of 11\)/);
  }
});

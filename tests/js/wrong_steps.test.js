// What a wrong rule did is told step by step, with the wrong one named, and what the right rule does there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrate } from '../../assets/js/model/narration.js';
import { Race } from '../../assets/js/model/race.js';
import { rightResidual, wrongSteps } from '../../assets/js/model/wrong_steps.js';
import { tellNoStep, tellStep } from '../../assets/js/model/wrong_words.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

/** p = (.5, .3, .2) and q = (.2, .5, .3) over a, b, c; b was drafted and thrown away: .7 is shared, a alone is left. */
const LAWS = { top_draft: [[1, 'b', 0.5], [2, 'c', 0.3], [0, 'a', 0.2]], top_target: [[0, 'a', 0.5], [1, 'b', 0.3], [2, 'c', 0.2]] };
const B = { id: 1, text: 'b', draft_prob: 0.5, target_prob: 0.3, accept_prob: 0.6, draw: 0.8, overlap: 0.7, ...LAWS };
const NEVER = { draft_prob: 0.5, target_prob: null, accept_prob: null, draw: null, overlap: null, top_draft: [], top_target: [] };

function drafted(outcome, rest = {}) {
  return { ...B, parent: -1, outcome, top_residual: [], ...rest };
}

function roundOf(index, guesses, added, source = 'correction') {
  const kept = guesses.filter(({ outcome }) => outcome === 'accepted').map((each) => ({ ...each, source: 'draft' }));
  const chain = guesses.map((each, at) => ({ ...each, parent: at - 1 }));
  const times = { draft_ms: 1, verify_ms: 1, other_ms: 0 };
  return { index, position: 0, gamma: 4, drafted: chain, emitted: [...kept, { ...added, source }], ...times };
}

function raceOf(rule, rounds, temperature = 1) {
  const race = new Race();
  const specs = [{ method: 'baseline' }, { method: 'draft-model', gamma: 4, rule }];
  race.take({ event: { event: 'RaceStarted', request: { prompt: '', sampling: { temperature } }, environment: {}, specs }, status: { state: 'running' } });
  for (const round of rounds) race.take({ event: { event: 'RoundFinished', lane: 1, round } });
  return race;
}

function stepsOf(race, index = 0) {
  const lane = race.lanes[1];
  return wrongSteps({ lane, round: lane.rounds[index], isGreedy: race.isGreedy });
}

const rejectedWith = (drawn) => drafted('rejected', { top_residual: drawn });
const a = { id: 0, text: 'a', target_prob: 0.5 };
const c = { id: 2, text: 'c', target_prob: 0.2 };

test('a correction that was drawn from the target is the error, and the right chance stands beside it', () => {
  const drawn = LAWS.top_target;
  const [step, ...others] = stepsOf(raceOf('target-resample', [roundOf(0, [rejectedWith(drawn)], c)]));
  assert.deepEqual(others, []);
  assert.deepEqual([step.kind, step.stage, step.tokens], ['from_target', 2, [1]]);
  assert.match(tellStep(step, 'did'), /“c” was drawn in its place from the target itself.*this is the error.*chance of 20\s%/);
  assert.match(tellStep(step, 'right'), /adds up to 0\.30 here.*could not have come in this place/);
  const [other] = stepsOf(raceOf('target-resample', [roundOf(0, [rejectedWith(drawn)], a)]));
  assert.match(tellStep(other, 'right'), /“a” would come with a chance of 100\s%/);
});

test('what the right rule draws from is p beyond q, scaled up to 1', () => {
  const [[id, text, prob], ...others] = rightResidual(drafted('rejected'));
  assert.deepEqual([id, text, others], [0, 'a', []]);
  assert.ok(Math.abs(prob - 1) < 1e-9);
  const copied = rightResidual(drafted('rejected', { draft_prob: null, overlap: 0.3, top_draft: [] }));
  assert.deepEqual(copied.map(([each, , share]) => [each, Number(share.toFixed(4))]), [[0, 0.7143], [2, 0.2857]]);
});

test('a draw into the gap writes the first word of the vocabulary, one beside it is told as such', () => {
  const zero = { id: 0, text: '!', target_prob: 0.2 };
  // Here it is c that p has more of: the first word has nothing of its own.
  const laws = { top_draft: [[0, '!', 0.5], [1, 'b', 0.3]], top_target: [[2, 'c', 0.6], [0, '!', 0.2], [1, 'b', 0.2]], overlap: 0.4 };
  const gap = rejectedWith([[2, 'c', 0.6], [0, '!', 0.4]]);
  const [step] = stepsOf(raceOf('no-renormalise', [roundOf(0, [{ ...gap, ...laws }], zero)]));
  assert.equal(step.kind, 'gap');
  assert.match(tellStep(step, 'did'), /adds up to 0\.60 only.*first word of the vocabulary, “!”/);
  assert.match(tellStep(step, 'right'), /up by 1\.67.*could not have come/);
  const [other] = stepsOf(raceOf('no-renormalise', [roundOf(0, [{ ...gap, ...laws }], { ...c, target_prob: 0.6 })]));
  assert.equal(other.kind, 'unscaled');
});

test('picked guesses are the error as soon as they are made', () => {
  const [step] = stepsOf(raceOf('argmax-softmax', [roundOf(0, [drafted('accepted'), drafted('rejected')], a)]));
  assert.deepEqual([step.kind, step.stage, step.tokens], ['picked', 0, [0, 1]]);
});

test('guesses behind a rejected one wait, and are judged in the next round by the pass before', () => {
  const rounds = [
    roundOf(0, [drafted('accepted'), drafted('rejected'), drafted('discarded', NEVER)], a),
    roundOf(1, [drafted('accepted')], c, 'bonus'),
    roundOf(2, [drafted('rejected')], a),
  ];
  for (const temperature of [0, 1]) {
    const race = raceOf('keep-after-rejection', rounds, temperature);
    const [[waits], [left], last] = [0, 1, 2].map((index) => stepsOf(race, index));
    assert.deepEqual([waits.kind, waits.stage, waits.tokens], ['kept_back', 2, [2]]);
    assert.deepEqual([left.kind, left.stage, left.tokens], ['left_over', 0, [0, 1]]);
    assert.match(tellStep(left, 'did'), /1 guess is left over.*where “b” stood and not “a”/);
    assert.deepEqual(last, []);
  }
});

test('a right rule has no wrong step, and one that does no harm says why', () => {
  const rounds = [roundOf(0, [rejectedWith(LAWS.top_target)], c)];
  assert.deepEqual(stepsOf(raceOf('right', rounds)), []);
  const race = raceOf('target-resample', rounds, 0);
  assert.deepEqual(stepsOf(race), []);
  const place = { lane: race.lanes[1], round: race.lanes[1].rounds[0], isGreedy: true };
  assert.match(tellNoStep(place), /At temperature 0 this mistake changes nothing/);
  assert.match(tellNoStep({ ...place, isGreedy: false }), /no correction was drawn/);
});

test('the narration names the error, and no wrong lane is praised at the end', () => {
  const race = raceOf('target-resample', [roundOf(0, [rejectedWith(LAWS.top_target)], c)]);
  assert.equal(narrate(race), 'Round 1: 1 guess, 0 kept, 1 corrected. ✗ The correction came from the target itself, not from what is left.');
  race.take({ figures: [{ metrics: {}, verdict: null }, { metrics: { speedup: 1.5 }, verdict: null }], status: { state: 'finished' } });
  assert.match(narrate(race), /1\.50×.*A lane marked WRONG does not write as the target would/);
});

test('a picked guess is told the chance that it ought to have had', () => {
  const [step] = stepsOf(raceOf('argmax-softmax', [roundOf(0, [drafted('rejected')], a)]));
  assert.match(tellStep(step, 'right'), /ought to have been: “b” 30\s% \(it had 60\s%\)\./);
});

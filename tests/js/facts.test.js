// The numbers that the lessons speak with: from a shipped race, then from each race that is finished.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Facts, NOTES, boundOf, largeNumbers, noiseOf, passNumbers, sourceOf } from '../../assets/js/learn/facts.js';
import { Race } from '../../assets/js/model/race.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

const SPECS = [
  { name: '', method: 'baseline', target: 'big', gamma: 0 },
  { name: '', method: 'draft-model', target: 'big', draft: 'small', gamma: 5 },
];
const started = (dtype) => ({
  event: 'RaceStarted',
  request: {},
  environment: { device: 'cpu', device_name: 'a processor', dtype, num_threads: 2 },
  specs: SPECS,
});
const lane = { alpha: 0.755, draft_cost: 0.1, verify_cost: 1.25, speedup: 2.3149, tau: 3.4, step_ms: 8 };
const FIGURES = [{ metrics: { step_ms: 8 }, verdict: null }, { metrics: lane, verdict: null }];
const DATA = {
  parameters: { big: 4_000_000 },
  recorded: { started: started('float32'), figures: FIGURES },
};

/** A playback that shows what it is given. */
function makePlayback() {
  const playback = { recording: null, follow: (listener) => (playback.show = listener) };
  return playback;
}

function finished(dtype) {
  const race = new Race();
  race.take({ event: started(dtype) });
  race.take({ figures: FIGURES });
  race.take({ status: { state: 'finished' } });
  return race;
}

test('before any race the shipped one is quoted', () => {
  const facts = new Facts(DATA, makePlayback());
  assert.deepEqual(passNumbers(facts), { count: '4.0', size: '16.0', step: '8.0', rate: '2.0' });
  assert.ok(boundOf(facts).includes('10 GB a second'));
  assert.ok(sourceOf(facts).startsWith('Measured in a recorded race that comes with this page, on a processor, float32'));
  assert.deepEqual(NOTES.run(facts), ['target + draft model: α = 0.76, c = 0.10, v = 1.25, speedup 2.31×.']);
  const check = NOTES.check(facts);
  assert.equal(check[0], 'γ = 5: one check of 6 tokens took 10.0 ms, one plain pass 8.0 ms, so v = 1.25.');
  assert.deepEqual(NOTES.checks(facts), check);
  assert.equal(check.length, 2);
  assert.equal(NOTES.lost(facts).length, 2, 'a race that was won is not told as lost');
});

test('a check that seems cheaper than a plain pass is told as noise', () => {
  const figures = FIGURES.map(({ metrics }) => ({ metrics: { ...metrics, verify_cost: 0.78 }, verdict: null }));
  const facts = new Facts({ ...DATA, recorded: { ...DATA.recorded, figures } }, makePlayback());
  const [check, noise] = NOTES.check(facts);
  assert.ok(check.endsWith('v = 0.78.'));
  assert.ok(noise.includes('v = 0.78 is noise'));
  assert.equal(noiseOf(1), '');
});

test('a race that lost is told without a word of comfort', () => {
  const figures = FIGURES.map(({ metrics }) => ({ metrics: { ...metrics, speedup: 0.7 }, verdict: null }));
  const facts = new Facts({ ...DATA, recorded: { ...DATA.recorded, figures } }, makePlayback());
  assert.deepEqual(NOTES.lost(facts), NOTES.run(facts));
});

test('a large model is quoted in units that a reader can work with', () => {
  const large = { num_parameters: 7e9, gigabytes: 14, device: 'a GPU', gigabytes_a_second: 2039 };
  const numbers = largeNumbers({ ...large, read_ms: 6.866, teraflops: 312, arithmetic_ms: 0.0449, num_tokens: 153 });
  assert.deepEqual(numbers, {
    count: '7',
    size: '14',
    device: 'a GPU',
    bandwidth: '2,039',
    read: '6.9',
    teraflops: '312',
    arithmetic: '0.04',
    tokens: '153',
  });
});

test('the newest race that is finished counts, and once', () => {
  const playback = makePlayback();
  const facts = new Facts(DATA, playback);
  const heard = [];
  facts.subscribe(({ source, megabytes }) => heard.push([source, megabytes]));
  const race = finished('bfloat16');
  race.status = { state: 'running' };
  playback.show(race);
  race.status = { state: 'finished' };
  playback.show(race);
  playback.show(race);
  playback.recording = [];
  playback.show(finished('float8'));
  assert.deepEqual(heard, [['shipped', 16], ['live', 8], ['played', null]]);
  assert.equal(passNumbers(facts), null, 'an unknown format has no size');
});

test('without a shipped race nothing is known', () => {
  const facts = new Facts({ parameters: {}, recorded: null }, makePlayback());
  assert.equal(facts.lane, null);
  for (const note of Object.values(NOTES)) assert.equal(note(facts), null);
});

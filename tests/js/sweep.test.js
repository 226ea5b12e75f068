// A sweep as the browser holds it: news, leaders, the race of a cell, links, verdicts, the answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesOf, within } from '../../assets/js/sweep/choices.js';
import { SWEEP_CHARTS } from '../../assets/js/sweep/charts.js';
import { readSweepLink, sweepLinkOf } from '../../assets/js/sweep/link.js';
import { divided, worthOf } from '../../assets/js/sweep/verdicts.js';
import { SweepResults, raceOf } from '../../assets/js/sweep/results.js';
import { readJson, useEnglish } from './strings_of_the_page.js';

useEnglish();

const RECORDED = readJson('../../assets/sweeps/shipped.json');

function recorded() {
  const results = new SweepResults();
  results.take(RECORDED);
  return results;
}

test('the recorded sweep has every draft on every kind of text', () => {
  const results = recorded();
  assert.equal(results.isEmpty, false);
  for (const leader of results.leaders) {
    assert.equal(leader.lane.draft, leader.draft);
    for (const category of results.categories) assert.ok(results.cell(leader.draft, leader.gamma, category).speedup > 0);
    assert.ok(results.memoryOf(leader.lane).target > 0);
  }
  const speedups = results.leaders.map(({ speedup }) => speedup);
  assert.deepEqual(speedups, [...speedups].sort((one, other) => other - one));
});

test('news of some cells leaves the others as they are, and another sweep begins anew', () => {
  const results = recorded();
  const [row] = RECORDED.cells;
  const changed = row.with(RECORDED.fields.indexOf('speedup'), 9);
  const { cells, fields, ...rest } = RECORDED;
  results.take({ ...rest, cells: [changed] });
  const { draft } = results.lanes[row[0]];
  const category = results.categories[row[2]];
  assert.equal(results.cell(draft, row[1], category).speedup, 9);
  assert.equal(cells.length > 1 && results.cellsOf(results.lanes[1]).length > 1, true);
  results.take({ ...RECORDED, key: 'k', best: undefined });
  assert.equal(results.isEmpty, true);
  results.take({ ...RECORDED, key: 'k' });
  results.take({ ...RECORDED, key: 'k', fields, best: undefined });
  assert.equal(results.isEmpty, false);
});

test('a cell is raced on the first prompt of its kind', () => {
  const results = recorded();
  const leader = results.leaders.find(({ lane }) => lane.spec.method === 'draft-model');
  const race = raceOf(results, leader, results.categories[1]);
  assert.equal(race.prompt, RECORDED.prompts[results.categories[1]]);
  const { gamma } = leader;
  assert.deepEqual(race.lanes, [{ method: 'draft-model', draft: leader.lane.spec.draft, max_ngram: 4, gamma }]);
});

test('every chart of the recorded sweep says a sentence with numbers', () => {
  const results = recorded();
  for (const chart of SWEEP_CHARTS) assert.match(chart.tell(results, results.leaders[0].draft), /\d/, chart.id);
  for (const chart of SWEEP_CHARTS) assert.doesNotThrow(() => chart.tell(new SweepResults(), ''));
});

test('settings come back out of their link', () => {
  const settings = {
    target: 'specviz-target',
    lanes: [{ method: 'draft-model', draft: 'owner/name' }, { method: 'early-exit', exit_layer: 4 }],
    gammas: [2, 6],
    temperature: 0.5,
    tokens: 32,
    minutes: 2,
    suite: 'lines',
    text: 'One & two\nThree',
  };
  const address = sweepLinkOf(settings, 'http://here/?prompt=Old#x');
  assert.equal(address.includes('Old'), false);
  const found = readSweepLink(new URL(address).search);
  assert.deepEqual(found, { ...settings, lanes: ['draft-model:owner/name', 'early-exit:4'] });
  assert.equal(readSweepLink('?prompt=x'), null);
});

test('the lanes of a menu entry are offered, and a field that holds no number changes nothing', () => {
  const pair = { drafts: ['a', 'fitted/b'], methods: ['draft-model', 'prompt-lookup', 'early-exit'], exits: [4, 8], heads: [] };
  const choices = choicesOf(pair);
  assert.deepEqual(choices.map(({ atFirst }) => atFirst), [true, false, true, true, false]);
  assert.equal(new Set(choices.map(({ key }) => key)).size, 5);
  assert.deepEqual(choicesOf({ drafts: [], methods: ['mtp'], exits: [] }).map(({ lane, key }) => [lane, key]), [[{ method: 'mtp' }, 'mtp']]);
  const headed = choicesOf({ ...pair, methods: ['eagle3'], drafts: [], heads: ['h', 'org/other'] });
  assert.deepEqual(headed.map(({ key, atFirst }) => [key, atFirst]), [['eagle3:h', true], ['eagle3:org/other', false]]);
  assert.equal(within('x', 1, 5, 3), 3);
  assert.equal(within('40', 1, 5, 3), 5);
});

test('rules of thumb stand apart, and are marked where the measurement contradicts them', () => {
  const worth = { id: 'sweep.only_gamma', gamma: 2 };
  const rule = { id: 'sweep.rule_poor', alpha: 0.3 };
  const holds = divided({ sentences: [worth, rule, { id: 'sweep.rule_holds' }] });
  assert.deepEqual([holds.told.length, holds.rules.length, holds.isContradicted], [1, 2, false]);
  assert.equal(divided({ sentences: [worth, rule, { id: 'sweep.rule_too_strict' }] }).isContradicted, true);
  assert.deepEqual([null, true, false].map((each) => worthOf({ is_worth_it: each })), ['unclear', 'yes', 'no']);
});

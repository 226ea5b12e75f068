// A race whose models are on their way says how far they are, and a pair of the hub joins the menu.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offerPair, onOffer, pairOf, shareMenu } from '../../assets/js/controls/menu.js';
import { narrate } from '../../assets/js/model/narration.js';
import { Race } from '../../assets/js/model/race.js';
import { aboutLane, briefName } from '../../assets/js/model/names.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

const event = { event: 'ModelDownloading', model: 'Qwen/Qwen3-8B', number: 1, count: 2 };

function told(done, total, status = { state: 'waiting' }) {
  const race = new Race();
  race.take({ event: { ...event, done_bytes: done, total_bytes: total } });
  race.take({ status });
  return race;
}

test('bytes are told in GB, with as many decimals as the whole is worth', () => {
  const race = told(1_230_000_000, 16_400_000_000);
  assert.ok(race.isDownloading);
  assert.equal(narrate(race), 'Downloading Qwen/Qwen3-8B (model 1 of 2): 1.2 of 16.4 GB.');
  assert.equal(narrate(told(0, 16e9)), 'Downloading Qwen/Qwen3-8B (model 1 of 2): 0.0 of 16.0 GB.');
  assert.equal(narrate(told(0, 0)), 'Asking the hub for Qwen/Qwen3-8B (model 1 of 2) …');
});

test('a race that waits for its turn, loads or was stopped downloads nothing', () => {
  const queued = { state: 'waiting', text: { id: 'status.queued' } };
  for (const status of [queued, { state: 'loading' }, { state: 'stopped', text: { id: 'status.download_stopped' } }]) {
    assert.ok(!told(1, 2, status).isDownloading);
  }
});

test('a pair joins the one menu that all parts share, in the place of an older entry', () => {
  const pair = { target: 'big', drafts: ['small'], methods: ['draft-model'], exits: [] };
  const [lanes, settings] = [shareMenu({ pairs: [pair] }), shareMenu({ pairs: [{ ...pair }] })];
  assert.equal(lanes.pairs, settings.pairs);
  const heard = [];
  onOffer((each) => heard.push(each.drafts));
  offerPair({ ...pair, target: 'owner/big' });
  offerPair({ ...pair, target: 'owner/big', drafts: ['owner/small'] });
  assert.deepEqual(lanes.pairs.map(({ target }) => target), ['big', 'owner/big']);
  assert.deepEqual(pairOf('owner/big').drafts, ['owner/small']);
  assert.deepEqual(heard, [['small'], ['owner/small']]);
});

test('where there is little room a hub model is named without its owner', () => {
  const spec = { method: 'draft-model', target: 'Qwen/Qwen3-8B', draft: 'Qwen/Qwen3-0.6B', gamma: 4 };
  assert.equal(aboutLane(spec, briefName), 'guesses by Qwen3-0.6B, γ = 4');
  assert.equal(aboutLane(spec), 'guesses by Qwen/Qwen3-0.6B, γ = 4');
  assert.equal(briefName('fitted/mine'), 'fitted/mine');
  assert.equal(briefName('/home/me/models/target'), 'target');
});

// The settings of a race: what fits, who owns what, and what a link says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkOf, readLink, withoutSettings } from '../../assets/js/controls/link.js';
import { SettingsStore, fitLanes, fitSettings } from '../../assets/js/controls/store.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

const ADDRESS = 'http://localhost:7860/';
const MENU = {
  first: {
    prompt: 'Once',
    temperature: 0,
    top_k: 0,
    top_p: 1,
    seed: 0,
    tokens: 128,
    chat: true,
    target: 'big',
    lanes: [{ method: 'draft-model', gamma: 4 }],
  },
  lane: { gamma: 4, max_ngram: 4, confidence: 0.4, branches: 4, budget: 24 },
  rules: ['right', 'target-resample', 'argmax-softmax'],
  schedules: ['fixed', 'heuristic', 'confidence', 'auto'],
  trees: ['none', 'static', 'dynamic'],
  spans: {
    temperature: [0, 2, 0.05],
    top_k: [0, 200, 1],
    top_p: [0.05, 1, 0.05],
    seed: [0, 2147483647, 1],
    tokens: [8, 192, 8],
    gamma: [1, 16, 1],
    max_ngram: [2, 16, 1],
    confidence: [0.01, 0.99, 0.01],
    branches: [2, 10, 1],
    budget: [2, 64, 1],
  },
  max_prompt_chars: 20,
  max_lane_name_chars: 10,
  max_drafting_lanes: 3,
  pairs: [
    { target: 'big', drafts: ['small', 'org/tiny:v1'], methods: ['draft-model', 'prompt-lookup', 'early-exit'], exits: [4, 8] },
    { target: 'bare', drafts: [], methods: ['prompt-lookup'], exits: [] },
    { target: 'headed', drafts: [], methods: ['eagle3'], exits: [], heads: ['one', 'org/two:v1'] },
  ],
  readings: ['stated', 'taps+1', 'double-norm'],
};
const FIRST_LANE = { method: 'draft-model', draft: 'small', gamma: 4 };

/** A store with what it asked of Gradio's controls and whom it told. */
function makeStore() {
  const [asked, told] = [[], []];
  const store = new SettingsStore(
    MENU,
    (some) => asked.push(some),
    (values, origin) => told.push({ values, origin }),
  );
  return { store, asked, told };
}

test('Gradio owns its settings: a wish changes nothing until the control tells', () => {
  const { store, asked, told } = makeStore();
  assert.deepEqual(store.wish({ temperature: 0.8, prompt: 'Hi', tokens: 128 }), []);
  assert.deepEqual(asked, [{ prompt: 'Hi', temperature: 0.8 }], 'only what differs is wished for');
  assert.equal(store.values.temperature, 0);
  assert.equal(told.length, 0);
  assert.equal(store.note('temperature', 0.8), false, 'an answer is nobody’s choice');
  assert.equal(store.values.temperature, 0.8);
  assert.deepEqual(told.at(-1).values.prompt, 'Once');
  assert.equal(store.note('prompt', 'Hi there'), true, 'the visitor typed something else');
  assert.equal(store.values.prompt, 'Hi there');
});

test('wishes that were not answered yet go along with the next one', () => {
  const { store, asked } = makeStore();
  store.wish({ temperature: 1 });
  store.wish({ seed: 7 });
  assert.deepEqual(asked.at(-1), { temperature: 1, seed: 7 });
  store.note('temperature', 1);
  store.wish({ temperature: 0 });
  assert.deepEqual(asked.at(-1), { temperature: 0, seed: 7 });
});

test('a control that is cleared or tells the same again changes nothing', () => {
  const { store, told } = makeStore();
  assert.equal(store.note('seed', null), false);
  assert.equal(store.note('seed', 0), false);
  assert.equal(told.length, 0);
});

test('the store owns target and lanes, and says who changed them', () => {
  const { store, asked, told } = makeStore();
  const before = store.values;
  assert.deepEqual(before.lanes, [FIRST_LANE]);
  const row = {};
  store.wish({ lanes: [{ ...FIRST_LANE, gamma: 6 }] }, row);
  assert.equal(store.values.lanes[0].gamma, 6);
  assert.equal(told.at(-1).origin, row);
  assert.equal(asked.length, 0);
  assert.deepEqual(before.lanes, [FIRST_LANE], 'values are never changed in place');
  store.wish({ temperature: 1 });
  assert.equal(told.length, 1, 'lanes that stayed are not told again');
});

test('lanes that nobody asked for follow the target in silence', () => {
  const { store } = makeStore();
  assert.deepEqual(store.wish({ target: 'bare' }), []);
  assert.deepEqual(store.values.lanes, [{ method: 'prompt-lookup', max_ngram: 4, gamma: 4 }]);
});

test('a lane gets what its method takes, and nothing else', () => {
  const asked = [
    { method: 'early-exit', draft: 'small', exit_layer: '8', gamma: '2' },
    { method: 'prompt-lookup', name: 'a name that is too long', exit_layer: 4 },
    null,
  ];
  const { lanes, faults } = fitLanes(asked, 'big', MENU);
  assert.deepEqual(faults, []);
  assert.deepEqual(lanes, [
    { method: 'early-exit', exit_layer: 8, gamma: 2 },
    { method: 'prompt-lookup', max_ngram: 4, gamma: 4, name: 'a name tha' },
    FIRST_LANE,
  ]);
});

test('a head is one of its target’s, and how it is read is said only where somebody said it', () => {
  const head = { method: 'eagle3', head: 'org/two:v1', gamma: 5 };
  const asked = [{ method: 'eagle3' }, { ...head, head_reading: 'taps+1' }, { ...head, head_reading: 'upside down' }];
  const { lanes, faults } = fitLanes(asked, 'headed', MENU);
  assert.deepEqual(lanes, [{ method: 'eagle3', head: 'one', gamma: 4 }, { ...head, head_reading: 'taps+1' }, head]);
  assert.equal(faults.length, 1);
  assert.match(faults[0], /upside down/);
  const address = linkOf({ ...MENU.first, target: 'headed', lanes }, 'http://here/');
  assert.match(address, /lane=eagle3:org\/two:v1:5/);
  assert.deepEqual(fitLanes(readLink(new URL(address).search).lanes, 'headed', MENU), { lanes, faults: [] });
});

test('what does not fit is told in a sentence and left as it was', () => {
  const lanes = [{ method: 'medusa' }, { method: 'draft-model', draft: 'nobody', gamma: 99 }, {}, {}];
  const asked = { chat: 'maybe', prompt: 'x'.repeat(21), temperature: 'hot', seed: 1.5, top_p: '0.5', target: 'x', lanes };
  const { fitting, faults } = fitSettings(asked, MENU.first, MENU);
  assert.equal(faults.length, 9);
  for (const part of ['temperature = hot', 'seed = 1.5', '21 characters', 'target = x', '4 lanes', 'medusa', 'nobody', '99', 'chat = maybe']) {
    assert.ok(faults.some((fault) => fault.includes(part)), part);
  }
  assert.ok(faults[1].includes('0 to 2,147,483,647'), 'limits are written in the reader’s language');
  assert.equal(fitting.top_p, 0.5);
  assert.deepEqual({ ...fitting, top_p: 1, lanes: [] }, { ...MENU.first, lanes: [] });
  assert.deepEqual(fitting.lanes, [FIRST_LANE, FIRST_LANE, FIRST_LANE]);
});

test('what a link says is what it was made of', () => {
  const lanes = [
    { method: 'draft-model', draft: 'org/tiny:v1', gamma: 6 },
    { method: 'early-exit', exit_layer: 8, gamma: 2 },
    { method: 'prompt-lookup', max_ngram: 3, gamma: 8 },
  ];
  const { store } = makeStore();
  const settings = { ...store.values, prompt: 'two\n& = ünï', temperature: 0.8, chat: false, lanes };
  const link = linkOf(settings, `${ADDRESS}?seed=3&old=1#x`);
  assert.ok(link.endsWith('&lane=draft-model:org/tiny:v1:6&lane=early-exit:8:2&lane=prompt-lookup:3:8'));
  const { fitting, faults } = fitSettings(readLink(new URL(link).search), store.values, MENU);
  assert.deepEqual(faults, []);
  assert.deepEqual(fitting, settings);
});

test('a link has the names of lanes where somebody gave any, each to its lane', () => {
  const lanes = [{ ...FIRST_LANE }, { ...FIRST_LANE, name: 'a: & 4' }, { method: 'prompt-lookup', max_ngram: 3, gamma: 8 }];
  const { store } = makeStore();
  const link = linkOf({ ...store.values, lanes }, ADDRESS);
  assert.deepEqual(fitSettings(readLink(new URL(link).search), store.values, MENU).fitting.lanes, lanes);
  assert.ok(!linkOf(store.values, ADDRESS).includes('lane_name'));
  assert.equal(withoutSettings(link), ADDRESS);
});

test('a link keeps a wrong rule, to its lane, and no lane without one says so', () => {
  const lanes = [{ ...FIRST_LANE }, { ...FIRST_LANE, rule: 'target-resample' }];
  const { store } = makeStore();
  const link = linkOf({ ...store.values, lanes }, ADDRESS);
  assert.ok(link.endsWith('&lane_rule=&lane_rule=target-resample'));
  const forked = [{ ...FIRST_LANE }, { ...FIRST_LANE, flipped_coins: [0, 21] }];
  const fork = linkOf({ ...store.values, lanes: forked }, ADDRESS);
  assert.deepEqual(fitSettings(readLink(new URL(fork).search), store.values, MENU).fitting.lanes, forked);
  assert.deepEqual(fitSettings(readLink(new URL(link).search), store.values, MENU).fitting.lanes, lanes);
  assert.ok(!linkOf(store.values, ADDRESS).includes('rule'));
  assert.equal(withoutSettings(link), ADDRESS);
  assert.deepEqual(readLink('?rule=target-resample').lanes, [{ rule: 'target-resample' }]);
});

test('a rule that a method cannot be broken by is told and becomes the right one', () => {
  const asked = [{ method: 'prompt-lookup', rule: 'argmax-softmax' }, { rule: 'argmax-softmax' }, { rule: 'own' }];
  const { lanes, faults } = fitLanes(asked, 'big', MENU);
  assert.deepEqual(lanes.map(({ rule }) => rule), [undefined, 'argmax-softmax', undefined]);
  assert.equal(faults.length, 2);
});

test('a link means the same on a page that begins with other settings', () => {
  const { store } = makeStore();
  const link = linkOf(store.values, `${ADDRESS}?old=1#x`);
  const names = [...new URL(link).searchParams.keys()];
  assert.deepEqual(names, ['prompt', 'temperature', 'top_k', 'top_p', 'seed', 'tokens', 'chat', 'target', 'lane']);
  const other = { ...store.values, prompt: 'other', temperature: 1.5, top_k: 7, top_p: 0.5, seed: 9, tokens: 16, chat: false };
  const others = [{ method: 'prompt-lookup', max_ngram: 2, gamma: 1 }];
  const { fitting, faults } = fitSettings(readLink(new URL(link).search), { ...other, lanes: others }, MENU);
  assert.deepEqual(faults, []);
  assert.deepEqual(fitting, store.values);
});

test('an address of single names asks for one lane, and one without any for nothing', () => {
  assert.equal(readLink('?embed=1&lesson=slow'), null);
  assert.deepEqual(readLink('?prompt=+&method=prompt-lookup&gamma=9&tokens=16'), {
    tokens: '16',
    lanes: [{ method: 'prompt-lookup', gamma: '9' }],
  });
  assert.equal(withoutSettings(`${ADDRESS}?prompt=a&lane=x:1&__theme=dark`), `${ADDRESS}?__theme=dark`);
});

test('a link keeps how draft lengths are chosen, and how sure a draft must be', () => {
  const lanes = [{ ...FIRST_LANE }, { ...FIRST_LANE, schedule: 'auto' }, { ...FIRST_LANE, schedule: 'confidence', confidence: 0.3 }];
  const { store } = makeStore();
  const link = linkOf({ ...store.values, lanes }, ADDRESS);
  assert.ok(link.endsWith('&lane_schedule=&lane_schedule=auto&lane_schedule=confidence:0.3'));
  const { fitting, faults } = fitSettings(readLink(new URL(link).search), store.values, MENU);
  assert.deepEqual(fitting.lanes, lanes);
  assert.deepEqual(faults, []);
  assert.ok(!linkOf(store.values, ADDRESS).includes('schedule'));
});

test('a schedule that a method cannot follow is told; confidence is asked of no other', () => {
  const asked = [{ method: 'prompt-lookup', schedule: 'confidence' }, { schedule: 'auto', confidence: 0.2 }, { schedule: 'confidence', confidence: 2 }];
  const { fitting, faults } = fitSettings({ lanes: asked }, makeStore().store.values, MENU);
  const chosen = fitting.lanes.map(({ schedule, confidence }) => [schedule, confidence]);
  assert.deepEqual(chosen, [[undefined, undefined], ['auto', undefined], ['confidence', 0.4]]);
  assert.equal(faults.length, 2);
});

test('a link keeps the trees that lanes guess', () => {
  const lanes = [{ ...FIRST_LANE }, { ...FIRST_LANE, tree: 'dynamic', branches: 3, budget: 16 }];
  const { store } = makeStore();
  const link = linkOf({ ...store.values, lanes }, ADDRESS);
  assert.ok(link.endsWith('&lane_tree=&lane_tree=dynamic:3:16'));
  const { fitting, faults } = fitSettings(readLink(new URL(link).search), store.values, MENU);
  assert.deepEqual(fitting.lanes, lanes);
  assert.deepEqual(faults, []);
  assert.ok(!linkOf(store.values, ADDRESS).includes('tree'));
  assert.deepEqual(readLink('?method=draft-model&tree=static&branches=2').lanes, [{ method: 'draft-model', tree: 'static', branches: '2' }]);
});

test('a tree has its usual size where none is said, no schedule, and no wrong rule', () => {
  const tree = { tree: 'static', branches: 4, budget: 24 };
  const asked = [
    { tree: 'static', schedule: 'auto' },
    { tree: 'dynamic', rule: 'target-resample' },
    { method: 'prompt-lookup', tree: 'dynamic' },
  ];
  const { fitting, faults } = fitSettings({ lanes: asked }, makeStore().store.values, MENU);
  assert.deepEqual(fitting.lanes[0], { ...FIRST_LANE, ...tree });
  assert.deepEqual(fitting.lanes.slice(1).map((lane) => lane.tree), [undefined, undefined]);
  assert.equal(faults.length, 2);
});

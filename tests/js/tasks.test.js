// A piece of long work: begun, asked for news in order, ended, and found again after a reload.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { connectServer } from '../../assets/js/wire/server.js';
import { Task } from '../../assets/js/wire/tasks.js';
import './strings_of_the_page.js';

const kept = new Map();
const sessionStorage = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => kept.set(key, value),
};
Object.assign(globalThis, { window: { sessionStorage } });

/** What the server answers to each look at the news, the last one for ever. */
let looks = [];
let calls = [];
let refusal = null;
connectServer({
  task_start: async (values) => {
    calls.push(['start', ...values]);
    return refusal ? { error: refusal } : { id: 'one' };
  },
  task_news: async (values) => {
    calls.push(['news', ...values]);
    return looks.length > 1 ? looks.shift() : looks[0];
  },
  task_stop: async (values) => {
    calls.push(['stop', ...values]);
    looks = [{ state: 'stopped', news: [] }];
    return {};
  },
});

let told = [];
let states = [];

function makeTask() {
  return new Task('sweep', {
    onNews: (items) => told.push(...items),
    onState: ({ state, text }) => states.push(text ? [state, text] : state),
    lookMs: 1,
  });
}

beforeEach(() => {
  [looks, calls, told, states, refusal] = [[], [], [], [], null];
  kept.clear();
});

test('news comes once and in order, until the work has ended', async () => {
  looks = [
    { state: 'running', news: [1, 2] },
    { state: 'running', news: [] },
    { state: 'finished', news: [3] },
  ];
  assert.equal(await makeTask().start({ minutes: 1 }), true);
  assert.deepEqual(told, [1, 2, 3]);
  assert.deepEqual(states, ['starting', 'running', 'finished']);
  const firsts = calls.filter(([name]) => name === 'news').map(([, id, first]) => [id, first]);
  assert.deepEqual(firsts, [['one', 0], ['one', 2], ['one', 2]]);
});

test('what is refused says why and begins nothing', async () => {
  refusal = 'too many';
  assert.equal(await makeTask().start({}), false);
  assert.deepEqual(states, ['starting', ['error', 'too many']]);
});

test('work is stopped once it has begun', async () => {
  looks = [{ state: 'running', news: [] }];
  const task = makeTask();
  const ended = task.start({});
  await new Promise((resolve) => setTimeout(resolve, 10));
  await task.stop();
  await ended;
  assert.equal(task.state, 'stopped');
  assert.deepEqual(calls.find(([name]) => name === 'stop'), ['stop', 'one']);
});

test('after a reload the work of this visit goes on with all its news', async () => {
  looks = [{ state: 'finished', news: [1] }];
  await makeTask().start({});
  [told, states] = [[], []];
  await makeTask().restore();
  assert.deepEqual(told, [1]);
  assert.deepEqual(states, ['running', 'finished']);
});

test('work that the server has forgotten is forgotten here', async () => {
  kept.set('specviz-task-sweep', 'gone');
  looks = [{ error: 'forgotten' }];
  const task = makeTask();
  await task.restore();
  assert.equal(task.state, 'idle');
  await task.restore();
  assert.equal(calls.length, 1);
});

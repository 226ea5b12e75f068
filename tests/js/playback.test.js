// A live race that waits gives way to recordings and comes back; one that was run out is held on the page alone.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Playback } from '../../assets/js/model/playback.js';

const STARTED = {
  event: 'RaceStarted',
  specs: [{ method: 'baseline' }, { method: 'draft-model', gamma: 1 }],
  request: { prompt: '', sampling: { temperature: 0 } },
  environment: {},
};
const RECORDING = [{ events: [STARTED, roundOf(1)] }, { events: [], status: { state: 'finished' } }];

let frames = [];
globalThis.requestAnimationFrame = (frame) => frames.push(frame);
globalThis.cancelAnimationFrame = () => {
  frames = [];
};
// A real one would keep the test from ending.
globalThis.MessageChannel = class {
  port1 = {};
  port2 = { postMessage() {} };
};
let wishes = [];
let playback = null;

beforeEach(() => {
  [frames, wishes] = [[], []];
  playback = new Playback((run, wish) => wishes.push([run, wish]));
});

function drawFrame() {
  for (const frame of frames.splice(0)) frame(0);
}

function roundOf(lane) {
  const emitted = [{ source: 'target', text: 'a' }];
  return {
    event: 'RoundFinished',
    lane,
    round: { index: 0, position: 0, drafted: [], emitted, draft_ms: 1, verify_ms: 1e6, other_ms: 0 },
  };
}

/** Let the playback take the packet of run "live" with this number. */
function send(seq, state, events = [], more = {}) {
  playback.take({ run: 'live', seq, events, status: { state, text: `${state} ${seq}` }, ...more });
  playback.flush();
}

function waitAndWatch() {
  playback.open('live');
  send(0, 'waiting');
  playback.show(RECORDING);
}

test('a recording is shown while a live race waits, which keeps its place', () => {
  waitAndWatch();
  assert.deepEqual(wishes, []);
  assert.equal(playback.race.status.state, 'finished');
  assert.deepEqual([playback.isBusy, playback.isShowing], [true, false]);
  assert.equal(playback.nextOf('live'), 1);
  send(1, 'waiting');
  assert.equal(playback.aside.race.status.text, 'waiting 1');
  assert.equal(playback.race.status.state, 'finished');
  playback.show(RECORDING);
  assert.equal(playback.aside.run, 'live');
});

test('a race that has its turn takes the place of what is watched, and says so', () => {
  waitAndWatch();
  send(1, 'loading');
  assert.deepEqual([playback.run, playback.recording, playback.aside], ['live', null, null]);
  assert.equal(playback.race.status.state, 'loading');
  assert.equal(playback.hasTakenOver, true);
  send(2, 'running', [STARTED, roundOf(1)]);
  assert.equal(playback.race.lanes[1].rounds.length, 1);
  playback.open('another');
  assert.equal(playback.hasTakenOver, false);
});

test('who leaves the queue keeps what is watched', () => {
  waitAndWatch();
  playback.stop();
  assert.deepEqual(wishes, [['live', 'stop']]);
  send(1, 'stopped');
  assert.deepEqual([playback.aside, playback.isBusy], [null, false]);
  assert.equal(playback.recording, RECORDING);
  assert.equal(playback.isCurrent('live'), false);
});

test('a race that runs is ended by whoever watches a recording', () => {
  playback.open('live');
  send(0, 'running');
  playback.show(RECORDING);
  assert.deepEqual(wishes, [['live', 'stop']]);
  assert.equal(playback.aside, null);
});

test('a race that was run out stays held on the page, and then goes by its own clocks', () => {
  playback.open('live');
  send(0, 'running', [STARTED]);
  playback.pause();
  const take = (packet) => playback.take({ run: 'live', is_run_out: true, ...packet });
  take({ seq: 1, events: [roundOf(1), roundOf(1)], status: { state: 'running' } });
  take({ seq: 2, events: [], status: { state: 'finished' } });
  const shown = () => playback.race.lanes[1].rounds.length;
  assert.deepEqual([playback.isRunOut, playback.isPaused, shown()], [true, true, 0]);
  playback.step();
  drawFrame();
  assert.deepEqual([playback.isPaused, shown()], [true, 1]);
  playback.resume();
  drawFrame();
  assert.equal(shown(), 1, 'the next round takes its 1,000 seconds');
  playback.stop();
  assert.deepEqual([shown(), playback.race.status.state], [2, 'finished']);
});

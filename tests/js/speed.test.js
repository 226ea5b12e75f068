// How fast a race is shown: one race alone may be slower, and rounds may be shown one at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from './strings_of_the_page.js';
import { Playback } from '../../assets/js/model/playback.js';

const PACKETS = readJson('../fixtures/packets.json').map((packet, seq) => ({ ...packet, run: 'a run', seq }));
const frames = [];
globalThis.requestAnimationFrame = (draw) => frames.push(draw);
globalThis.cancelAnimationFrame = () => {};
// A real channel that is never closed would keep the tests from ending.
globalThis.MessageChannel = class {
  port1 = { onmessage: () => {} };
  port2 = { postMessage: () => this.port1.onmessage() };
};

function drawFrames() {
  for (let left = 100; frames.length && left; left -= 1) frames.shift()(performance.now());
}

function playbackWith(wishes = []) {
  frames.length = 0;
  return new Playback((run, wish) => wishes.push(wish));
}

const numRounds = (playback) => playback.race.drafting[0].rounds.length;

test('one race alone is slower, and the next one as fast as was chosen', () => {
  const playback = playbackWith();
  playback.open('first');
  playback.slowOnce(4);
  assert.deepEqual([playback.factor, playback.isSlowedOnce], [4, true]);
  playback.open('second');
  assert.deepEqual([playback.factor, playback.isSlowedOnce], [1, false]);
  playback.setFactor(10);
  playback.open('third');
  assert.equal(playback.factor, 10);
});

test('the same recording once more is as slow as it was, another is not', () => {
  const playback = playbackWith();
  playback.play(PACKETS);
  playback.slowOnce(4);
  playback.play(PACKETS);
  assert.equal(playback.factor, 4);
  playback.play([...PACKETS]);
  assert.equal(playback.factor, 1);
});

test('by rounds, a race is held after each round on the screen, and never at the server', () => {
  const wishes = [];
  const playback = playbackWith(wishes);
  playback.goByRound();
  playback.open(PACKETS[0].run);
  for (const packet of PACKETS) playback.take(packet);
  drawFrames();
  assert.deepEqual([numRounds(playback), playback.isPaused], [1, true]);
  playback.step();
  drawFrames();
  assert.equal(numRounds(playback), 2);
  playback.slowOnce(4);
  assert.deepEqual([playback.isByRound, playback.factor], [true, 1]);
  assert.deepEqual(wishes, ['detail'], 'figures after every round, and nothing else');
  playback.setFactor(1);
  assert.deepEqual([playback.isByRound, playback.isPaused], [false, false]);
  playback.flush();
  assert.equal(numRounds(playback), 4);
});

test('who stops a race by rounds sees no round more', () => {
  const wishes = [];
  const playback = playbackWith(wishes);
  playback.goByRound();
  playback.open(PACKETS[0].run);
  for (const packet of PACKETS) playback.take(packet);
  drawFrames();
  playback.stop();
  drawFrames();
  assert.deepEqual([numRounds(playback), playback.race.status.state], [1, 'stopped']);
  assert.deepEqual(wishes, ['detail', 'stop']);
});

// The page's side of the wire: the stored log of packets, folded as a page folds it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson, useEnglish } from './strings_of_the_page.js';
import { Race } from '../../assets/js/model/race.js';
import { narrate } from '../../assets/js/model/narration.js';
import { laneName } from '../../assets/js/model/names.js';
import { packetsOf } from '../../assets/js/model/replay.js';
import { Timeline, partsOf } from '../../assets/js/model/timeline.js';
import { FIGURES } from '../../assets/js/race/figure_table.js';

useEnglish();
const PACKETS = readJson('../fixtures/packets.json');

function fold(packets) {
  const race = new Race();
  for (const part of packets.flatMap(partsOf)) race.take(part);
  return race;
}

test('a race of the log has the lanes, rounds and texts that were sent', () => {
  const race = fold(PACKETS);
  assert.deepEqual(race.lanes.map((lane) => lane.rounds.length), [8, 4]);
  const [alone, drafting] = race.lanes;
  assert.equal(alone.text, drafting.text);
  assert.equal(alone.text, ' t10 t11 t12 t13 t14 t15 t16 t17');
  assert.equal(race.baseline, alone);
  assert.deepEqual(race.drafting, [drafting]);
  assert.equal(laneName(alone), 'target alone');
  assert.equal(laneName(drafting), "somebody's <b>own</b> name");
});

test('every token has its fate and its position in the output', () => {
  const [, drafting] = fold(PACKETS).lanes;
  const fates = drafting.rounds.map((round) => round.tokens.map((token) => token.fate.name).join(' '));
  assert.deepEqual(fates, [
    'accepted accepted accepted bonus',
    'accepted rejected discarded correction',
    'plain',
    'accepted discarded',
  ]);
  const positions = drafting.rounds.flatMap((round) => round.tokens.map((token) => token.position));
  assert.deepEqual(positions, [0, 1, 2, 3, 4, null, null, 5, 6, 7, null]);
  assert.deepEqual(drafting.rounds.map((round) => round.numKept), [3, 1, 0, 1]);
  assert.deepEqual(drafting.rounds.map((round) => round.textBefore), [0, 16, 24, 28]);
});

test('clocks add up the times of the rounds', () => {
  const race = fold(PACKETS);
  assert.deepEqual(race.lanes.map((lane) => lane.clockMs), [80, 53.75]);
  const [, drafting] = race.lanes;
  assert.deepEqual(drafting.rounds.map((round) => [round.startMs, round.endMs]), [
    [0, 15],
    [15, 30],
    [30, 40],
    [40, 53.75],
  ]);
  assert.deepEqual([0, 14.9, 15, 53, 54, -1].map((ms) => drafting.roundAt(ms)), [0, 0, 1, 3, -1, -1]);
});

test('figures and verdicts are the server’s, number by number', () => {
  const race = fold(PACKETS);
  const { figures } = PACKETS.at(-1);
  race.lanes.forEach((lane, index) => {
    assert.deepEqual(lane.metrics, figures[index].metrics);
    assert.deepEqual(lane.verdict, figures[index].verdict);
  });
  assert.equal(race.lanes[1].verdict.agreement, 'identical');
  assert.equal(race.bestSpeedup, figures[1].metrics.speedup);
  assert.deepEqual(race.leaders, [race.lanes[1]]);
  assert.equal(race.lanes[1].rounds.at(-1).speedup, figures[1].metrics.speedup);
});

test('the baseline leads where every lane is slower', () => {
  const race = fold(PACKETS);
  race.take({ figures: [{ metrics: { speedup: 1 } }, { metrics: { speedup: 0.999 } }] });
  assert.deepEqual(race.leaders, [race.baseline]);
  assert.equal(race.lanes[1].isSlower, true);
  race.take({ figures: [{ metrics: { speedup: 1 } }, { metrics: { speedup: 1 } }] });
  assert.deepEqual(race.leaders, [race.lanes[1]]);
  assert.equal(race.lanes[1].isSlower, false);
});

test('the narration follows the race', () => {
  const race = new Race();
  const told = PACKETS.map((packet) => {
    for (const part of partsOf(packet)) race.take(part);
    return narrate(race);
  });
  assert.equal(told[0], 'All lanes have read the prompt.');
  assert.ok(told.includes('Round 2: 3 guesses, 1 kept, 1 corrected.'));
  assert.ok(told.includes('Round 3: nothing guessed, one plain step.'));
  assert.match(told.at(-1), /^Finished: guessing made the target 1\.49× as fast\.$/);
});

test('it says faster from 1 on and slower below', () => {
  const race = fold(PACKETS);
  const sayWith = (speedup) => {
    race.take({ figures: [{ metrics: {} }, { metrics: { speedup } }] });
    return narrate(race);
  };
  assert.match(sayWith(1), /as fast\.$/);
  assert.match(sayWith(0.95), /slower than the target alone here \(0\.95×\)/);
});

test('a figure is shown from its own counts', () => {
  const race = fold(PACKETS);
  const [, lane] = race.lanes;
  const shown = (id) => FIGURES[id].value(race, lane).replace('\u00a0', ' ');
  assert.equal(shown('speedup'), '1.49×');
  assert.equal(shown('alpha'), '83 %'); // Five of the six guesses that were judged.
  assert.equal(shown('rate'), '63 %'); // Five of all eight.
  assert.equal(shown('tau'), '2.00');
  assert.equal(shown('saved'), '50 %');
  assert.equal(shown('wasted'), '38 %'); // One rejected and two never judged, of eight.
  assert.equal(FIGURES.wasted.detail(race, lane), '3/8 drafted');
});

test('a bare trace replays without a server, and shows no figure', () => {
  const trace = readJson('../fixtures/trace_v1.json');
  const race = fold(packetsOf(trace));
  assert.deepEqual(race.lanes.map((lane) => lane.text), Array(2).fill(' t10 t11 t12 t13 t14 t15 t16 t17'));
  assert.equal(race.status.state, 'finished');
  assert.equal(race.hasFigures, false);
  assert.ok(race.lanes.every((lane) => lane.isWhole));
});

test('a bare trace replays in the order in which the race ran', () => {
  const order = (packets) =>
    packets.flatMap(({ events = [] }) => events).map(({ event, lane }) => `${event} ${lane ?? ''}`);
  const started = PACKETS[0].events[0];
  const race = fold(PACKETS);
  const lanes = race.lanes.map((lane) => ({
    spec: lane.spec,
    prefill_ms: 5,
    rounds: lane.rounds.map((round) => round.facts),
    stop_reason: lane.stopReason,
    error: null,
  }));
  assert.deepEqual(order(packetsOf({ ...started, lanes })), order(PACKETS));
});

test('a timeline hands rounds out when their clocks have come so far', () => {
  const timeline = new Timeline();
  for (const packet of PACKETS) timeline.add(packet);
  const rounds = (parts) => parts.filter(({ event }) => event?.event === 'RoundFinished').length;
  assert.equal(rounds(timeline.takeDue()), 0);
  timeline.advance(10);
  assert.equal(rounds(timeline.takeDue()), 1);
  timeline.advance(5);
  assert.equal(rounds(timeline.takeDue()), 1);
  timeline.advance(1000);
  assert.equal(rounds(timeline.takeDue()), 10);
  assert.equal(timeline.isEmpty, true);
});

test('a step is one round of a lane that drafts, with its figures', () => {
  const timeline = new Timeline();
  for (const packet of PACKETS) timeline.add(packet);
  const race = new Race();
  for (const kept of [1, 2, 3, 4]) {
    assert.equal(timeline.hasStep, true);
    const { parts, isWhole } = timeline.takeStep();
    for (const part of parts) race.take(part);
    assert.equal(isWhole, true);
    assert.equal(race.lanes[1].rounds.length, kept);
    assert.equal(race.lanes[1].metrics.num_rounds, kept);
  }
  assert.equal(timeline.hasStep, false);
});

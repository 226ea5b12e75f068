// The still charts of an exported race: their axes and how traces are stacked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisOver, shareOf } from '../../assets/js/export/scale.js';
import { stackedTraces } from '../../assets/js/export/traces.js';
import { asText, plainText } from '../../assets/js/page/plotly_text.js';

const texts = (axis) => axis.ticks.map(({ text }) => text.replaceAll('\u00a0', ' '));

test('an axis spans its numbers with some room, and goes on to 0 where it is asked to', () => {
  assert.deepEqual(axisOver([2, 4], { range: [0, 8] }).high, 8);
  const open = axisOver([10, 20], {});
  assert.ok(open.low < 10 && open.high > 20);
  const toZero = axisOver([1, 3], { rangemode: 'tozero', ticksuffix: '×' });
  assert.equal(toZero.low, 0);
  assert.deepEqual(texts(toZero), ['0×', '1×', '2×', '3×']);
  assert.equal(shareOf({ low: 2, high: 6 }, 3), 0.25);
});

test('ticks are written as a chart asks for them', () => {
  assert.deepEqual(texts(axisOver([], { range: [0, 1.04], tickformat: '.0%' })), ['0 %', '50 %', '100 %']);
  assert.deepEqual(texts(axisOver([1, 2], { rangemode: 'tozero', tickformat: 'd' })), ['0', '1', '2']);
  assert.deepEqual(texts(axisOver([0, 0.6], { rangemode: 'tozero' })), ['0', '0.2', '0.4', '0.6']);
  assert.equal(texts(axisOver([], { range: [0.6, 16.4], dtick: 1 })).length, 16);
  assert.deepEqual(texts(axisOver([0, 1], { tickvals: [0, 1], ticktext: ['a', 'b'] })), ['a', 'b']);
});

test('an axis of one number or none is still one', () => {
  for (const numbers of [[], [3], [0, 0]]) {
    const { low, high, ticks } = axisOver(numbers, { rangemode: 'tozero' });
    assert.ok(high > low && ticks.length > 1);
  }
});

test('stacked bars stand on each other, others share the place', () => {
  const bars = [{ type: 'bar', x: [1, 2], y: [3, null] }, { type: 'bar', x: [1, 2], y: [4, 5] }];
  const [under, over] = stackedTraces(bars, { barmode: 'stack' });
  assert.deepEqual([under.bases, under.tops], [[0, 0], [3, null]]);
  assert.deepEqual([over.bases, over.tops], [[3, 0], [7, 5]]);
  assert.deepEqual(stackedTraces(bars, {})[1].bases, [0, 0]);
});

test('what a chart calls a lane is written as it is', () => {
  for (const name of ['a &amp; b', '</style><b>own', '&lt;', 'plain']) assert.equal(plainText(asText(name)), name);
});

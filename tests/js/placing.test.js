// The coach stands where it covers the least of what must be seen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CORNERS, around, bestCorner, boxIn, overlap } from '../../assets/js/learn/placing.js';

const VIEW = { width: 1000, height: 800 };
const PANEL = { width: 400, height: 300, margin: 20 };
const SHEET = { width: 1000, height: 300, margin: 0 };
const [BOTTOM_RIGHT, BOTTOM_LEFT, TOP_RIGHT, TOP_LEFT] = CORNERS;
const boxAt = (left, top, width = 50, height = 50) => ({ left, top, right: left + width, bottom: top + height });

test('a panel stands inside the window, a sheet at its edge', () => {
  assert.deepEqual(boxIn(BOTTOM_RIGHT, PANEL, VIEW), boxAt(580, 480, 400, 300));
  assert.deepEqual(boxIn(TOP_LEFT, PANEL, VIEW), boxAt(20, 20, 400, 300));
  assert.deepEqual(boxIn(BOTTOM_LEFT, SHEET, VIEW), boxAt(0, 500, 1000, 300));
});

test('it stays while nothing is covered, and goes on only to a better corner', () => {
  const clear = [[boxAt(100, 100)]];
  assert.equal(bestCorner(PANEL, VIEW, clear, BOTTOM_RIGHT), BOTTOM_RIGHT);
  assert.equal(bestCorner(PANEL, VIEW, clear, TOP_RIGHT), TOP_RIGHT);
  assert.equal(bestCorner(PANEL, VIEW, clear, TOP_LEFT), BOTTOM_RIGHT);
  const everywhere = [[boxAt(0, 0, 1000, 800)]];
  for (const corner of CORNERS) assert.equal(bestCorner(PANEL, VIEW, everywhere, corner), corner);
});

test('what the step speaks of is kept clear, whatever else is covered', () => {
  const useful = [boxAt(20, 480, 400, 300), boxAt(0, 0, 1000, 330)];
  const one = [[boxAt(600, 500)], useful];
  assert.equal(bestCorner(PANEL, VIEW, one, BOTTOM_RIGHT), BOTTOM_LEFT);
  const both = [[boxAt(600, 500), boxAt(100, 500)], [boxAt(700, 0)]];
  assert.equal(bestCorner(PANEL, VIEW, both, BOTTOM_RIGHT), TOP_LEFT);
});

test('a sheet goes up where the control is at the bottom', () => {
  const wanted = [[boxAt(400, 700)], [boxAt(0, 0, 1000, 400)]];
  assert.equal(bestCorner(SHEET, VIEW, wanted, BOTTOM_RIGHT).isTop, true);
});

test('boxes share an area only where they meet, and one box can hold many', () => {
  assert.equal(overlap(boxAt(0, 0), boxAt(40, 40)), 100);
  assert.equal(overlap(boxAt(0, 0), boxAt(50, 0)), 0);
  assert.deepEqual(around([boxAt(0, 10), boxAt(40, 0)]), { left: 0, top: 0, right: 90, bottom: 60 });
});

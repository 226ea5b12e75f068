// Where the tokens of a tree stand.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FATES } from '../../assets/js/model/fates.js';
import { Race } from '../../assets/js/model/race.js';
import { packetsOf } from '../../assets/js/model/replay.js';
import { CARD, layOut } from '../../assets/js/rounds/tree.js';

/** The tokens of the stored tree: two children of the root, five below them, and a correction. */
function storedTree() {
  const path = new URL('../fixtures/trace_tree.json', import.meta.url);
  const race = new Race();
  for (const { events = [] } of packetsOf(JSON.parse(readFileSync(path, 'utf8')))) {
    for (const event of events) race.take({ event });
  }
  return race.lanes[1].rounds[0].tokens;
}

function guess(parent, fate = 'discarded') {
  return { parent, fate: FATES[fate] };
}

test('every token stands right of its parent, and one level in one column', () => {
  const tokens = storedTree();
  const { corners } = layOut(tokens);
  const columns = [...new Set(corners.map(({ x }) => x))].sort((a, b) => a - b);
  const levels = corners.map(({ x }) => columns.indexOf(x));
  assert.deepEqual(levels, [0, 0, 1, 1, 1, 2, 2, 2]);
});

test('no two tokens overlap, and all stand on the plane', () => {
  const { corners, width, height } = layOut(storedTree());
  corners.forEach(({ x, y }, index) => {
    assert.ok(x >= 0 && y >= 0 && x + CARD.width <= width && y + CARD.height <= height);
    for (const other of corners.slice(index + 1)) {
      assert.ok(Math.abs(x - other.x) >= CARD.width || Math.abs(y - other.y) >= CARD.height);
    }
  });
});

test('a parent stands amid its children, and the root amid all', () => {
  const { corners, rootY } = layOut([guess(-1), guess(0), guess(0), guess(0)]);
  assert.equal(corners[0].y, corners[2].y);
  assert.equal(rootY, corners[0].y + CARD.height / 2);
});

test('what the target added follows the last guess that was kept, or the root', () => {
  const tokens = [guess(-1, 'accepted'), guess(0, 'rejected'), { fate: FATES.correction }];
  const kept = layOut(tokens);
  assert.equal(kept.corners[2].x, kept.corners[1].x);
  const none = layOut([guess(-1, 'rejected'), { fate: FATES.correction }]);
  assert.equal(none.corners[1].x, none.corners[0].x);
  assert.ok(none.edges[1].startsWith(`M26 ${none.rootY} `));
});

test('an edge leads from the right of the parent to the left of the token', () => {
  const { corners, edges } = layOut([guess(-1, 'accepted'), { fate: FATES.bonus }]);
  const middle = CARD.height / 2;
  assert.ok(edges[1].startsWith(`M${corners[0].x + CARD.width} ${middle} `));
  assert.ok(edges[1].endsWith(` ${corners[1].x} ${middle}`));
});

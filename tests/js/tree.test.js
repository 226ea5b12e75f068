// A round as a tree: who follows whom, where each token stands, and how keys walk it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGE, SMALL, layOut } from '../../assets/js/evidence/tree_layout.js';
import { FATES } from '../../assets/js/model/fates.js';
import { Race } from '../../assets/js/model/race.js';
import { packetsOf } from '../../assets/js/model/replay.js';
import { ROOT, TokenTree } from '../../assets/js/model/tree.js';
import { inReadingOrder } from '../../assets/js/race/lane_tokens.js';
import { readJson } from './strings_of_the_page.js';

/** The rounds of the stored trees: two children of the root, five below them, and a correction; then a bonus. */
function storedRounds() {
  const race = new Race();
  for (const { events = [] } of packetsOf(readJson('../fixtures/trace_tree.json'))) {
    for (const event of events) race.take({ event });
  }
  return race.lanes[1].rounds;
}

function guess(parent, fate = 'discarded') {
  return { parent, fate: FATES[fate], text: 'ab', position: null };
}

const CORRECTION = { fate: FATES.correction, text: 'ab', position: 0 };

function plan(tree, sizes = LARGE) {
  return layOut(tree, tree.parents.map(() => 2), sizes);
}

test('a tree knows its levels, its branches and the way that was kept', () => {
  const [{ tree }] = storedRounds();
  assert.deepEqual(tree.levels, [1, 1, 2, 2, 2, 3, 3, 3]);
  assert.deepEqual([tree.numGuesses, tree.numLevels, tree.numBranches], [7, 3, 3]);
  assert.deepEqual(tree.path, [1, 3]);
  assert.deepEqual(tree.parents, [ROOT, ROOT, 0, 1, 1, 3, 4, 3], 'the correction follows the last that was kept');
  assert.deepEqual(tree.siblingsOf(0), [0, 1]);
});

test('a chain is a tree with one branch', () => {
  const tree = new TokenTree([guess(ROOT, 'accepted'), guess(0, 'rejected'), guess(1), CORRECTION]);
  assert.deepEqual([tree.numLevels, tree.numBranches], [3, 1]);
  assert.deepEqual(tree.parents, [ROOT, 0, 1, 0]);
});

test('siblings that were thrown away before are those above, and no others', () => {
  const [{ tree }] = storedRounds();
  assert.deepEqual(tree.rejectedBefore(1), [0]);
  assert.deepEqual(tree.rejectedBefore(0), []);
  assert.deepEqual(tree.rejectedBefore(7), [5], 'of the correction, all at its place');
});

test('a guess is not judged below one that was thrown away, beside one that was kept, or past the end', () => {
  const [{ tree }] = storedRounds();
  assert.deepEqual(tree.settledBy(2), { why: 'below', by: 0 });
  assert.deepEqual(tree.settledBy(4), { why: 'beside', by: 3 });
  assert.deepEqual(tree.settledBy(6), { why: 'beside', by: 3 }, 'its parent stood beside it');
  assert.equal(new TokenTree([guess(ROOT, 'accepted'), guess(0)]).settledBy(1), null);
});

test('keys walk a tree: up and down a level, left to the parent, right to the first child', () => {
  const [{ tree }] = storedRounds();
  const walk = (from, ...keys) => keys.reduce((at, key) => tree.step(at, key, () => true), from);
  assert.equal(walk(0, 'ArrowDown'), 1);
  assert.equal(walk(1, 'ArrowDown'), 1, 'there is none below');
  assert.equal(walk(1, 'ArrowRight'), 3);
  assert.equal(walk(3, 'ArrowDown', 'ArrowUp', 'ArrowUp'), 2, 'past its siblings to the others of its level');
  assert.equal(walk(5, 'ArrowLeft', 'ArrowLeft', 'ArrowLeft'), 1, 'what has no parent stays');
  assert.deepEqual([walk(5, 'Home'), walk(0, 'End')], [0, 7]);
  assert.equal(tree.step(0, 'x', () => true), null);
  assert.equal(tree.step(3, 'ArrowRight', (index) => index !== 5), 7, 'what is not shown is passed over');
});

test('every token stands right of the one that it follows, and one level in one column', () => {
  const [{ tree }] = storedRounds();
  const { boxes } = plan(tree);
  const columns = [...new Set(boxes.map(({ x }) => x))].sort((a, b) => a - b);
  assert.deepEqual(boxes.map(({ x }) => columns.indexOf(x) + 1), tree.levels);
});

test('no two tokens overlap and all stand on the plane, also of 64 with ten siblings each', () => {
  const wide = Array.from({ length: 64 }, (_, index) => guess(Math.floor((index - 10) / 10), index === 63 ? 'discarded' : 'rejected'));
  for (const tree of [storedRounds()[0].tree, new TokenTree(wide)]) {
    for (const sizes of [LARGE, SMALL]) {
      const { boxes, width, height } = plan(tree, sizes);
      boxes.forEach((box, index) => {
        assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + sizes.height <= height);
        for (const other of boxes.slice(index + 1)) {
          assert.ok(box.x + box.width <= other.x || other.x + other.width <= box.x || Math.abs(box.y - other.y) >= sizes.height);
        }
      });
    }
  }
});

test('siblings stand in the order in which they are tried, their parent amid them', () => {
  const tree = new TokenTree([guess(ROOT, 'accepted'), guess(0, 'rejected'), guess(0, 'rejected'), guess(0, 'accepted')]);
  const { boxes, rootY } = plan(tree);
  assert.ok(boxes[1].y < boxes[2].y && boxes[2].y < boxes[3].y);
  assert.equal(boxes[0].y, boxes[2].y);
  assert.equal(rootY, boxes[0].y + LARGE.height / 2);
});

test('an edge leads from the right of the parent to the left of the token', () => {
  const tree = new TokenTree([guess(ROOT, 'accepted'), { fate: FATES.bonus, text: 'a' }]);
  const { boxes, edges } = plan(tree);
  const middle = LARGE.height / 2;
  assert.ok(edges[1].startsWith(`M${boxes[0].x + boxes[0].width} ${middle} `));
  assert.ok(edges[1].endsWith(` H${boxes[1].x}`));
});

test('a lane writes what was judged and added, and counts the rest', () => {
  const read = (round) => inReadingOrder(round).map(({ tokens, isRest }) => (isRest ? tokens.length : tokens[0].text));
  const rounds = storedRounds();
  assert.deepEqual(read(rounds[0]), [' fox', ' dog', ' ran', ' home', 3, ' away']);
  assert.deepEqual(read(rounds[1]), [' and', ' hid', 1, '.']);
  const chain = { isTree: false, tokens: [guess(ROOT, 'rejected'), guess(0), CORRECTION] };
  assert.deepEqual(read(chain), ['ab', 'ab', 'ab'], 'a chain is written as it was guessed');
  const ended = { isTree: true, tokens: [guess(ROOT, 'accepted'), guess(ROOT)] };
  assert.deepEqual(read(ended), ['ab', 1]);
});

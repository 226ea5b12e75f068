// Where the tokens of a tree stand: each right of the one that it follows, siblings one below the other.
import { ROOT } from '../model/tree.js';

/**
 * Sizes in px at the usual size of the page's text: the height of a token and of a row, the width of the
 * root, the room in which edges fan out, the straight end of an edge, and of a token what stands around its
 * letters, the width of a letter, and how many are written at most.
 * @typedef {{ height: number, row: number, root: number, fan: number, straight: number,
 *   padding: number, letter: number, most: number }} Sizes
 * @typedef {{ x: number, y: number, width: number }} Box
 */

/** With room for two lines of numbers at each edge, and as small as a finger can press. */
export const LARGE = { height: 28, row: 38, root: 28, fan: 30, straight: 106, padding: 22, letter: 8.5, most: 12 };
export const SMALL = { height: 20, row: 24, root: 14, fan: 16, straight: 4, padding: 15, letter: 6.75, most: 9 };

/**
 * Lay a tree out: the size of the plane, where each token stands, for each the path of the edge that
 * leads to it, and the height of the root's middle. `lengths` are the letters of each token's text.
 * @param {import('../model/tree.js').TokenTree} tree
 * @param {number[]} lengths
 * @param {Sizes} sizes
 * @returns {{ width: number, height: number, boxes: Box[], edges: string[], rootY: number }}
 */
export function layOut(tree, lengths, sizes) {
  const columns = tree.columns();
  const rows = rowsOf(tree);
  const widths = lengths.map((letters) => sizes.padding + sizes.letter * Math.min(letters, sizes.most));
  const lefts = /** @type {number[]} */ ([]);
  let right = sizes.root;
  for (const column of columns) {
    lefts.push(right + sizes.fan + sizes.straight);
    right = lefts.at(-1) + Math.max(...column.map((index) => widths[index]));
  }
  const top = (row) => row * sizes.row;
  const boxes = tree.levels.map((level, index) => ({
    x: lefts[level - 1],
    y: top(rows.of[index]),
    width: widths[index],
  }));
  const middle = (y) => y + sizes.height / 2;
  const rootY = middle(top(rows.root));
  const edges = boxes.map(({ x, y }, index) => {
    const from = boxes[tree.parents[index]];
    const start = from ? { x: from.x + from.width, y: middle(from.y) } : { x: sizes.root, y: rootY };
    const fan = lefts[tree.levels[index] - 1] - sizes.straight - sizes.fan;
    return edgeOf(start, { x, y: middle(y) }, fan, sizes);
  });
  const height = Math.max(...boxes.map(({ y }) => y)) + sizes.height;
  return { width: right, height, boxes, edges, rootY };
}

/** A row for each leaf; whatever others follow stands in the middle of these. */
function rowsOf(tree) {
  const of = tree.levels.map(() => 0);
  let numLeaves = 0;
  const place = (node) => {
    const rows = tree.childrenOf(node).map(place);
    const row = rows.length ? (rows[0] + rows.at(-1)) / 2 : numLeaves++;
    if (node !== ROOT) of[node] = row;
    return row;
  };
  return { root: place(ROOT), of };
}

/** A straight line to where edges of this level fan out, a curve, and a straight line at its end. */
function edgeOf(from, to, fan, sizes) {
  const bend = to.x - sizes.straight;
  const middle = (fan + bend) / 2;
  return `M${from.x} ${from.y} H${fan} C${middle} ${from.y} ${middle} ${to.y} ${bend} ${to.y} H${to.x}`;
}

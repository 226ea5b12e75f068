// Where the tokens of a tree of guesses stand: each right of its parent, branches one below the other.

const ROOT = -1;
/** Sizes in px at the usual size of the page's text. */
export const CARD = { width: 148, height: 92 };
const STEP = { x: 190, y: 104 };
const ROOT_WIDTH = 34;
/** Where the edges of the root begin, left of its end. */
const ROOT_GAP = 8;
/** The edges of a chosen card's ring. */
const MARGIN = 4;

/**
 * Lay out a round's tokens: the size of the plane, the top left corner of each token, for each the path
 * of the edge that leads to it, and the height of the root's middle.
 * @typedef {{ x: number, y: number }} Point
 * @returns {{ width: number, height: number, corners: Point[], edges: string[], rootY: number }}
 */
export function layOut(tokens) {
  const parents = parentsOf(tokens);
  const cells = cellsOf(parents);
  const corners = cells.map(({ column, row }) => ({ x: ROOT_WIDTH + column * STEP.x, y: row * STEP.y }));
  const rootY = middleOf(rowAmid(ROOT, parents, cells) * STEP.y);
  const edges = corners.map((corner, index) => {
    const parent = corners[parents[index]];
    const root = { x: ROOT_WIDTH - ROOT_GAP, y: rootY };
    const from = parent ? { x: parent.x + CARD.width, y: middleOf(parent.y) } : root;
    return edgeOf(from, { x: corner.x, y: middleOf(corner.y) });
  });
  const width = Math.max(...corners.map(({ x }) => x)) + CARD.width + MARGIN;
  const height = Math.max(...corners.map(({ y }) => y)) + CARD.height;
  return { width, height, corners, edges, rootY };
}

/** The parent of each token; what the target added follows the last guess that it kept. */
function parentsOf(tokens) {
  const end = tokens.findLastIndex((token) => token.fate.name === 'accepted');
  return tokens.map((token) => (token.fate.isGuess ? token.parent : end));
}

/** A column for each step from the root, a row for each leaf. */
function cellsOf(parents) {
  const cells = parents.map(() => ({ column: 0, row: 0 }));
  let leaves = 0;
  const visit = (node, column) => {
    const children = [...parents.keys()].filter((index) => parents[index] === node);
    for (const child of children) visit(child, column + 1);
    if (node === ROOT) return;
    cells[node] = { column, row: children.length ? rowAmid(node, parents, cells) : leaves++ };
  };
  visit(ROOT, ROOT);
  return cells;
}

/** In the middle of its children. */
function rowAmid(node, parents, cells) {
  const rows = cells.filter((_, index) => parents[index] === node).map(({ row }) => row);
  return (Math.min(...rows) + Math.max(...rows)) / 2;
}

function edgeOf(from, to) {
  const middle = (from.x + to.x) / 2;
  return `M${from.x} ${from.y} C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
}

function middleOf(top) {
  return top + CARD.height / 2;
}

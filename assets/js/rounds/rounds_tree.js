// A tree of guesses: each token stands right of its parent, branches one below the other.
import { make } from '../core/dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const ROOT = -1;
const CARD = { width: 148, height: 92 };
const STEP = { x: 190, y: 104 };
const ROOT_WIDTH = 34;
/** The edges of a chosen card's ring. */
const MARGIN = 4;

/** Place the cards of a round on a plane with an edge to each parent: `{ plane, edges }`. */
export function layTree(tokens, beats, cards) {
  const parents = parentsOf(tokens, beats);
  const places = placesOf(parents);
  const rootRow = rowOf(ROOT, parents, places);
  const { plane, svg } = makePlane(places);
  const root = make('span', 'sv-tree-root', '…', { 'aria-hidden': 'true' });
  root.style.top = scaled(middleOf(rootRow));
  plane.append(root);
  const edges = cards.map((card, place) => {
    const { column, row } = places[place];
    card.style.left = scaled(left(column));
    card.style.top = scaled(row * STEP.y);
    plane.append(card);
    const parent = parents[place];
    const from = parent === ROOT ? { x: ROOT_WIDTH - 8, row: rootRow } : rightOf(places[parent]);
    const edge = edgeOf(from, { x: left(column), row });
    svg.append(edge);
    return { edge, place };
  });
  return { plane, edges };
}

/** The parent of each token; what the target added follows the last guess that it kept. */
function parentsOf(tokens, beats) {
  const end = beats.fates.lastIndexOf('accepted');
  return tokens.map((token, place) => (beats.added.includes(place) ? end : token.b));
}

function placesOf(parents) {
  const places = parents.map(() => ({ column: 0, row: 0 }));
  let leaves = 0;
  const visit = (node, column) => {
    const children = [...parents.keys()].filter((place) => parents[place] === node);
    for (const child of children) visit(child, column + 1);
    if (node === ROOT) return;
    places[node].column = column;
    places[node].row = children.length ? rowOf(node, parents, places) : leaves++;
  };
  visit(ROOT, ROOT);
  return places;
}

/** In the middle of its children. */
function rowOf(node, parents, places) {
  const rows = places.filter((_, place) => parents[place] === node).map((place) => place.row);
  return (Math.min(...rows) + Math.max(...rows)) / 2;
}

function makePlane(places) {
  const width = left(Math.max(...places.map((place) => place.column))) + CARD.width + MARGIN;
  const height = Math.max(...places.map((place) => place.row)) * STEP.y + CARD.height;
  const plane = make('div', 'sv-tree');
  plane.style.width = scaled(width);
  plane.style.height = scaled(height);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  plane.append(svg);
  return { plane, svg };
}

function edgeOf(from, to) {
  const [start, end] = [middleOf(from.row), middleOf(to.row)];
  const middle = (from.x + to.x) / 2;
  const edge = document.createElementNS(SVG, 'path');
  edge.setAttribute('class', 'sv-tree-edge');
  edge.setAttribute('d', `M${from.x} ${start} C${middle} ${start} ${middle} ${end} ${to.x} ${end}`);
  return edge;
}

function left(column) {
  return ROOT_WIDTH + column * STEP.x;
}

function rightOf({ column, row }) {
  return { x: left(column) + CARD.width, row };
}

function middleOf(row) {
  return row * STEP.y + CARD.height / 2;
}

/** A length that grows with the text of the page. */
function scaled(px) {
  return `calc(${px}px * var(--sv-text, 1))`;
}

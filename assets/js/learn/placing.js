// Where the coach may stand: the corner in which it covers the least of what must be seen.

/**
 * Corners in the order in which they are tried.
 * @typedef {{ isTop: boolean, isLeft: boolean }} Corner
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box
 */

/** @type {Corner[]} */
export const CORNERS = [
  { isTop: false, isLeft: false },
  { isTop: false, isLeft: true },
  { isTop: true, isLeft: false },
  { isTop: true, isLeft: true },
];

/** The box of a panel of this size in a corner of the window; a sheet lies at its very edge. */
export function boxIn({ isTop, isLeft }, { width, height, margin }, view) {
  const left = isLeft ? margin : view.width - margin - width;
  const top = isTop ? margin : view.height - margin - height;
  return { left, top, right: left + width, bottom: top + height };
}

/**
 * The corner for a panel: where it covers the least of the first `levels` of boxes, and of those where
 * it covers the least of the next. It stays in its corner while no other is better.
 * @param {{ width: number, height: number, margin: number }} panel
 * @param {{ width: number, height: number }} view
 * @param {Box[][]} levels
 * @param {Corner} current
 */
export function bestCorner(panel, view, levels, current) {
  const covered = (corner) => {
    const own = boxIn(corner, panel, view);
    return levels.map((boxes) => boxes.reduce((sum, box) => sum + overlap(own, box), 0));
  };
  let [best, least] = [current, covered(current)];
  for (const corner of CORNERS) {
    const here = covered(corner);
    const level = here.findIndex((area, index) => area !== least[index]);
    if (level >= 0 && here[level] < least[level]) [best, least] = [corner, here];
  }
  return best;
}

/** The area that two boxes share. */
export function overlap(one, other) {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return Math.max(0, width) * Math.max(0, height);
}

/** The smallest box around some boxes. */
export function around(boxes) {
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}

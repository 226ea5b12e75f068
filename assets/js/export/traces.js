// Draws the traces of a chart in SVG: lines, areas between two of them, markers and bars.
const SVG = 'http://www.w3.org/2000/svg';
const DASHES = { dot: '2 3', dash: '7 5', dashdot: '7 4 2 4' };
const BAR_GAP = 0.2;

/** A mark beside its name, in px. */
const SAMPLE = { width: 28, height: 12, edge: 3 };

/** Make an element of a picture, with attributes and children; a text is one too. */
export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** plotly's name of a dash as SVG has it; none where a line is whole. */
export function dashOf(name) {
  return DASHES[name];
}

/** The numbers of a list without its gaps. */
export function numbersOf(list) {
  return list.filter((number) => number !== null && number !== undefined);
}

/**
 * The traces with the width of their bars, and where bars are stacked the `bases` and `tops` of each.
 * @param {Record<string, any>[]} traces
 * @param {Record<string, any>} layout
 * @returns {Record<string, any>[]}
 */
export function stackedTraces(traces, layout) {
  const { barmode, bargap = BAR_GAP } = layout;
  const bars = traces.filter(({ type }) => type === 'bar');
  const heights = new Map();
  return traces.map((trace) => {
    if (trace.type !== 'bar') return trace;
    const bases = trace.x.map((x) => (barmode === 'stack' ? (heights.get(x) ?? 0) : 0));
    const tops = trace.y.map((y, index) => (y === null ? null : bases[index] + y));
    tops.forEach((top, index) => heights.set(trace.x[index], top ?? bases[index]));
    return { ...trace, bases, tops, width: (1 - bargap) / (barmode === 'stack' ? 1 : bars.length) };
  });
}

/**
 * Draw one trace: `at.x` and `at.y` place numbers, `id` begins the id of a pattern, `before` is the trace that an area
 * reaches down to.
 */
export function drawTrace(trace, { at, id, theme, before }) {
  if (trace.type === 'bar') return drawBars(trace, at, id, theme);
  const group = svg('g', {});
  if (trace.fill === 'tonexty') group.append(drawArea(trace, before, at));
  if (trace.mode.includes('lines') && trace.line.width !== 0) group.append(drawLine(trace, at));
  if (trace.mode.includes('markers')) group.append(...drawMarkers(trace, at));
  return group;
}

function drawLine({ x, y, line: { color, width, dash, shape } }, at) {
  const attributes = { fill: 'none', stroke: color, 'stroke-width': width, 'stroke-dasharray': dashOf(dash), 'stroke-linejoin': 'round' };
  return svg('path', { ...attributes, d: pathOf(x, y, at, shape) });
}

/** A path over all points; a gap in the numbers is one in the line, and `hvh` goes in steps midway between two. */
function pathOf(x, y, at, shape) {
  let last = null;
  const parts = x.map((number, index) => {
    if (y[index] === null || y[index] === undefined) {
      last = null;
      return '';
    }
    const point = [at.x(number), at.y(y[index])].map((each) => each.toFixed(1));
    const isStep = last !== null && shape === 'hvh';
    const middle = isStep ? ((at.x(last) + at.x(number)) / 2).toFixed(1) : 0;
    const begin = last === null ? 'M' : 'L';
    last = number;
    return isStep ? `H${middle}V${point[1]}H${point[0]}` : `${begin}${point.join(' ')}`;
  });
  return parts.join('');
}

function drawArea({ x, y, fillcolor }, upper, at) {
  const there = upper.x.map((number, index) => `${at.x(number)} ${at.y(upper.y[index])}`);
  const back = x.map((number, index) => `${at.x(number)} ${at.y(y[index])}`).reverse();
  return svg('path', { fill: fillcolor, d: `M${[...there, ...back].join('L')}Z` });
}

function drawMarkers({ x, y, marker }, at) {
  const symbolAt = (index) => (Array.isArray(marker.symbol) ? marker.symbol[index] : (marker.symbol ?? 'circle'));
  return [...x.keys()]
    .filter((index) => numbersOf([y[index]]).length)
    .map((index) => {
      const [shape, open] = symbolAt(index).split('-');
      const paint = { fill: open ? 'none' : marker.color, stroke: marker.color, 'stroke-width': open ? 1.5 : 0 };
      return drawSymbol(shape, at.x(x[index]), at.y(y[index]), marker.size / 2, paint);
    });
}

/** A circle, a square or a diamond around a point. */
function drawSymbol(shape, x, y, radius, paint) {
  if (shape === 'circle') return svg('circle', { cx: x, cy: y, r: radius, ...paint });
  const square = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius, ...paint };
  return svg('rect', shape === 'diamond' ? { ...square, transform: `rotate(45 ${x} ${y})` } : square);
}

function drawBars({ x, tops, bases, width, marker }, at, id, theme) {
  const group = svg('g', {});
  const fill = marker.pattern?.shape ? `url(#${id})` : marker.color;
  if (marker.pattern?.shape) group.append(svg('defs', {}, drawPattern(marker, id, theme)));
  x.forEach((number, index) => {
    if (tops[index] === null) return;
    const [left, right] = [number - width / 2, number + width / 2].map(at.x);
    const [top, bottom] = [tops[index], bases[index]].map(at.y);
    group.append(svg('rect', { x: left, y: top, width: right - left, height: Math.max(0, bottom - top), fill }));
  });
  return group;
}

/** Stripes (`/`) or dots (`.`) in another colour, as on the page's charts. */
function drawPattern({ color, pattern: { shape, size, fgcolor } }, id, theme) {
  const ground = svg('rect', { width: size, height: size, fill: color });
  const ink = fgcolor ?? theme.surface;
  const stripe = svg('path', { d: `M0 ${size}L${size} 0`, stroke: ink, 'stroke-width': size / 4 });
  const dot = svg('circle', { cx: size / 2, cy: size / 2, r: size / 4, fill: ink });
  return svg('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, ground, shape === '/' ? stripe : dot);
}

/** The mark of a trace, small, as it stands beside its name. */
export function drawSample(trace, theme, id) {
  const { width, height, edge } = SAMPLE;
  const at = { x: (share) => edge + share * (width - 2 * edge), y: (share) => height - 1 - share * (height - 2) };
  const picture = svg('svg', { width, height, 'aria-hidden': 'true' });
  if (trace.type === 'bar' || trace.fill) {
    const marker = trace.fill ? { color: trace.fillcolor } : trace.marker;
    picture.append(drawBars({ x: [0.5], tops: [1], bases: [0], width: 1, marker }, at, id, theme));
  } else {
    const x = trace.mode === 'markers' ? [0.5] : [0, 1];
    const size = Math.min(trace.marker?.size ?? 0, height - 4);
    const small = { ...trace, x, y: x.map(() => 0.5), marker: { ...trace.marker, size } };
    const line = drawTrace({ ...small, mode: trace.mode.replace('+markers', '') }, { at, id, theme, before: null });
    const middle = { ...small, x: [0.5], y: [0.5], mode: 'markers' };
    picture.append(line, ...(trace.mode === 'lines+markers' ? [drawTrace(middle, { at, id, theme, before: null })] : []));
  }
  return picture;
}

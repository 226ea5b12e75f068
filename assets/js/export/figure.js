// Draws a chart as a still picture in SVG, from the very traces and layout that plotly draws on the page.
import { axisOver, shareOf } from './scale.js';
import { dashOf, drawTrace, numbersOf, stackedTraces, svg } from './traces.js';

const HEIGHT_PX = 224;
const TEXT_PX = 12;
const TICK_PX = 4;
const LINE_HEIGHT = 1.25;
/** Of a letter's height, its usual width. */
const LETTER = 0.58;
const EDGE_PX = 8;

/**
 * What a chart's `draw(lanes, theme)` gives. Traces are lines, markers and bars (`bar`, stacked or not); a layout has
 * axes `x` and `y` and shapes (`line`, `rect`), all named as plotly names them.
 * @typedef {{ traces: Record<string, any>[], layout: Record<string, any> }} Figure
 */

/**
 * Draw a figure so wide, in the page's colours.
 * @param {Figure} figure
 * @param {string} id Begins the ids of its patterns, which the whole document shares.
 */
export function drawFigure({ traces, layout }, theme, width, id) {
  const size = TEXT_PX * theme.textScale;
  const shown = stackedTraces(traces, layout);
  const [x, y] = axesOf(shown, layout);
  const frame = frameOf(x, y, layout, width, size);
  const at = {
    x: (number) => frame.left + shareOf(x, number) * frame.width,
    y: (number) => frame.top + (1 - shareOf(y, number)) * frame.height,
  };
  const picture = svg('svg', { width, height: frame.all, viewBox: `0 0 ${width} ${frame.all}`, 'font-size': size, 'aria-hidden': 'true' });
  const clip = svg('clipPath', { id: `${id}-clip` }, svg('rect', { x: frame.left, y: frame.top, width: frame.width, height: frame.height }));
  const inside = svg('g', { 'clip-path': `url(#${id}-clip)` });
  const shapes = layout.shapes ?? [];
  inside.append(...shapes.filter(isBelow).map((shape) => drawShape(shape, at, frame)));
  const marks = shown.map((trace, index) => drawTrace(trace, { at, id: `${id}-${index}`, theme, before: shown[index - 1] }));
  inside.append(...marks, ...shapes.filter((shape) => !isBelow(shape)).map((shape) => drawShape(shape, at, frame)));
  picture.append(svg('defs', {}, clip), ...drawAxes(x, y, at, frame, layout, theme, size), inside);
  return picture;
}

function isBelow({ layer }) {
  return layer === 'below';
}

/** Both axes over all that is drawn; bars need half their width beside them. */
function axesOf(traces, layout) {
  const shapes = (layout.shapes ?? []).flatMap(({ y0, y1 }) => [y0, y1]);
  const has = (type) => traces.some((trace) => trace.type === type);
  const xs = traces.flatMap((trace) => numbersOf(trace.x));
  const across = has('bar') ? xs.flatMap((number) => [number - 0.5, number + 0.5]) : xs;
  const ys = traces.flatMap((trace) => numbersOf(trace.tops ?? trace.y));
  const floor = has('bar') ? [0] : [];
  // Rounds are counted from 1 on: beside bars plotly does not go on to 0 either.
  const { rangemode, ...open } = layout.x ?? {};
  const hasMarkers = traces.some(({ mode }) => mode?.includes('markers'));
  const x = axisOver(across, has('bar') ? open : { ...open, rangemode }, hasMarkers && !has('bar'));
  return [x, axisOver([...ys, ...shapes, ...floor], layout.y ?? {})];
}

function linesOf(text) {
  return String(text).split('<br>').map((line) => line.replaceAll(/<\/?b>/g, ''));
}

function frameOf(x, y, layout, width, size) {
  const rows = Math.max(1, ...x.ticks.map(({ text }) => linesOf(text).length));
  const left = Math.max(...y.ticks.map(({ text }) => text.length), 1) * LETTER * size + TICK_PX + EDGE_PX;
  const title = layout.x?.title?.text ? LINE_HEIGHT * size + TICK_PX : 0;
  const below = rows * LINE_HEIGHT * size + TICK_PX + title;
  const all = HEIGHT_PX * (size / TEXT_PX);
  return { left, top: EDGE_PX, width: Math.max(1, width - left - EDGE_PX), height: all - EDGE_PX - below, all };
}

/** Lines across at the ticks of y, and what stands beside both axes. */
function drawAxes(x, y, at, frame, layout, theme, size) {
  const right = frame.left + frame.width;
  const bottom = frame.top + frame.height;
  const line = (x1, y1, x2, y2) => svg('line', { x1, y1, x2, y2, stroke: theme.grid });
  const label = (left, top, text, anchor) => svg('text', { x: left, y: top, 'text-anchor': anchor, fill: theme.soft }, text);
  const parts = [];
  for (const { at: number, text } of y.ticks) {
    parts.push(line(frame.left, at.y(number), right, at.y(number)));
    parts.push(label(frame.left - TICK_PX, at.y(number) + 0.35 * size, text, 'end'));
  }
  for (const { at: number, text } of withRoom(x.ticks, at, size)) {
    parts.push(line(at.x(number), frame.top, at.x(number), bottom));
    linesOf(text).forEach((each, row) => parts.push(label(at.x(number), bottom + (row + 1) * LINE_HEIGHT * size, each, 'middle')));
  }
  const title = layout.x?.title?.text;
  if (title) parts.push(label(frame.left + frame.width / 2, frame.all - TICK_PX, title, 'middle'));
  return parts;
}

/** Every first, second, third … tick, so that no label runs into the next. */
function withRoom(ticks, at, size) {
  if (ticks.length < 2) return ticks;
  const widest = Math.max(...ticks.flatMap(({ text }) => linesOf(text).map((line) => line.length))) * LETTER * size + TICK_PX;
  const apart = Math.abs(at.x(ticks[1].at) - at.x(ticks[0].at)) || 1;
  const step = Math.ceil(widest / apart);
  return ticks.filter((_, index) => index % step === 0);
}

/** A line across the whole chart, or an area. */
function drawShape(shape, at, frame) {
  const { color = 'none', width = 0, dash } = shape.line ?? {};
  const isAcross = shape.xref === 'paper';
  const [x1, x2] = [shape.x0, shape.x1].map((x) => (isAcross ? frame.left + x * frame.width : at.x(x)));
  const [y1, y2] = [shape.y0, shape.y1].map(at.y);
  if (shape.type === 'line') {
    return svg('line', { x1, y1, x2, y2, stroke: color, 'stroke-width': width, 'stroke-dasharray': dashOf(dash) });
  }
  const area = { x: x1, y: Math.min(y1, y2), width: x2 - x1, height: Math.abs(y2 - y1) };
  return svg('rect', { ...area, fill: shape.fillcolor, opacity: shape.opacity ?? 1 });
}

// Saves what the page draws of elements (bars, tables, a painted strip) as a picture, PNG or SVG, without any server.
import { make, makeButton } from './dom.js';
import { t } from './strings.js';
import { readTheme } from './theme.js';

const SVG = 'http://www.w3.org/2000/svg';
const FORMATS = ['png', 'svg'];
/** Dots of a PNG for each of the screen, so that it stays sharp on a slide. */
const SCALE = 2;
const TITLE_PX = 40;
const EDGE_PX = 12;
/** Not part of a picture: what is only heard, and what is pressed. */
const LEFT_OUT = '.sv-spoken, .sv-picture-buttons, select, input, .sv-segments';
/** Styles of a drawing's own shapes, which a file has no sheet for. */
const PAINT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity'];

/** Make the two buttons that save an element as `specviz-NAME.FORMAT`, with a title in the picture. */
export function pictureButtons(element, name, title) {
  const group = make('span', 'sv-picture-buttons', '', { role: 'group', 'aria-label': t('chart.save', { title }) });
  for (const format of FORMATS) {
    const says = t(`chart.save_${format}`);
    const button = makeButton(format.toUpperCase(), () => save(element, name, title, format), 'sv-button', { title: says });
    button.setAttribute('aria-label', `${says}: ${title}`);
    button.dataset.save = format;
    group.append(button);
  }
  return group;
}

async function save(element, name, title, format) {
  const picture = pictureOf(element, title);
  const text = new XMLSerializer().serializeToString(picture);
  const drawing = new Blob([text], { type: 'image/svg+xml' });
  const size = { width: Number(picture.getAttribute('width')), height: Number(picture.getAttribute('height')) };
  const link = make('a', '', '', { download: `specviz-${name}.${format}` });
  link.href = URL.createObjectURL(format === 'svg' ? drawing : await painted(drawing, size));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A drawing as a PNG. */
async function painted(drawing, { width, height }) {
  const image = new Image(width, height);
  image.src = URL.createObjectURL(drawing);
  await image.decode();
  const canvas = /** @type {HTMLCanvasElement} */ (make('canvas'));
  Object.assign(canvas, { width: SCALE * width, height: SCALE * height });
  const context = canvas.getContext('2d');
  context.scale(SCALE, SCALE);
  context.drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** What stands in an element, as a drawing of boxes and texts where they stand now, below a title. */
function pictureOf(element, title) {
  const theme = readTheme();
  const box = element.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width) + 2 * EDGE_PX, Math.ceil(box.height) + TITLE_PX + EDGE_PX];
  const picture = shape('svg', { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
  const at = { x: (x) => x - box.left + EDGE_PX, y: (y) => y - box.top + TITLE_PX };
  const head = shape('text', { x: EDGE_PX, y: 1.5 * EDGE_PX + 6, fill: theme.ink, 'font-size': 15, 'font-family': theme.font });
  head.textContent = title;
  picture.append(shape('rect', { width, height, fill: theme.surface }), head, ...partsOf(element, at));
  return picture;
}

/** The shapes of an element and of all in it, those behind first. */
function partsOf(element, at) {
  if (element.matches(LEFT_OUT) || !element.checkVisibility({ visibilityProperty: true })) return [];
  if (element instanceof SVGSVGElement) return [drawingIn(element, at)];
  if (element instanceof HTMLCanvasElement) return [shape('image', { ...placeOf(element, at), href: element.toDataURL() })];
  const inside = [...element.childNodes].flatMap((child) => {
    if (child instanceof Text) return linesOf(child, at);
    return child instanceof Element ? partsOf(child, at) : [];
  });
  return [...boxOf(element, at), ...inside];
}

function placeOf(element, at) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: at.x(left), y: at.y(top), width, height };
}

/** An element's ground and border, where it has any. */
function boxOf(element, at) {
  const style = getComputedStyle(element);
  const border = parseFloat(style.borderTopWidth) || 0;
  const outline = style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth);
  const hasGround = !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor);
  if (!hasGround && !border && !outline) return [];
  const width = Math.max(border, outline);
  const edge = outline ? style.outlineColor : style.borderTopColor;
  const ground = hasGround ? plainColor(style.backgroundColor) : 'none';
  const paint = { fill: ground, ...(width && { stroke: plainColor(edge), 'stroke-width': width }) };
  return [shape('rect', { ...placeOf(element, at), rx: parseFloat(style.borderTopLeftRadius) || 0, ...paint })];
}

/** A colour as every program reads it: mixed ones are computed in other spaces. */
function plainColor(color) {
  if (!color.startsWith('color')) return color;
  const canvas = /** @type {HTMLCanvasElement} */ (make('canvas', '', '', { width: 1, height: 1 }));
  const context = canvas.getContext('2d');
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${(alpha / 255).toFixed(2)})`;
}

/** A text line by line, as it is broken now. */
function linesOf(node, at) {
  const style = getComputedStyle(node.parentElement);
  const range = document.createRange();
  /** @type {{ text: string, left: number, middle: number }[]} */
  const lines = [];
  [...node.data].reduce((index, sign) => {
    range.setStart(node, index);
    range.setEnd(node, index + sign.length);
    const [box] = range.getClientRects();
    if (box?.width) {
      const middle = box.top + box.height / 2;
      const last = lines.at(-1);
      if (last && Math.abs(last.middle - middle) < 1) last.text += sign;
      else lines.push({ text: sign, left: box.left, middle });
    }
    return index + sign.length;
  }, 0);
  const font = { 'font-size': style.fontSize, 'font-weight': style.fontWeight, 'font-family': style.fontFamily };
  return lines.map(({ text, left, middle }) => {
    const made = shape('text', { x: at.x(left), y: at.y(middle), 'dominant-baseline': 'central', fill: style.color, ...font });
    made.textContent = text;
    return made;
  });
}

/** A drawing within the page, with the colours that its sheet gives it. */
function drawingIn(element, at) {
  const copy = /** @type {SVGSVGElement} */ (element.cloneNode(true));
  for (const [name, value] of Object.entries(placeOf(element, at))) copy.setAttribute(name, String(value));
  const [from, to] = [element, copy].map((each) => [...each.querySelectorAll('*')]);
  from.forEach((each, index) => {
    const style = getComputedStyle(each);
    for (const name of PAINT) to[index].setAttribute(name, style.getPropertyValue(name));
    if (style.vectorEffect !== 'none') to[index].setAttribute('vector-effect', style.vectorEffect);
  });
  return copy;
}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (name !== 'xmlns') made.setAttribute(name, String(value));
  return made;
}

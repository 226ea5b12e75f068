// Paints the clock strip: blocks of draft, verify and other that differ in height, hatch and colour.

/** What a round's time is made of, in the order it is spent; verifying stands tallest. */
export const KINDS = ['draft', 'verify', 'other'];
const HEIGHTS = { draft: 0.66, verify: 1, other: 0.33 };
const ROOM_FOR_NUMBER_PX = 24;
const ROOM_FOR_GAP_PX = 7;
const ROOM_FOR_HATCH_PX = 4;
const TICK_PX = 90;
const FLAG_PX = 11;
const STEPS = [1, 2, 5];

/** Draws on one canvas; `rows` are the upper edges and heights of the lanes' bars. */
export class ClockPainter {
  #canvas;
  #pen;
  #theme;
  #hatch;
  #finishLabel = String;
  #from = 0;
  #scale = 1;
  width = 0;
  height = 0;

  constructor(canvas) {
    this.#canvas = canvas;
    this.#pen = canvas.getContext('2d');
  }

  /** Take the size of the strip, sharp on every screen. */
  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    this.#pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** Begin anew: clear all, and draw the axis under what follows. */
  begin(theme, from, scale, axis) {
    this.#theme = theme;
    this.#hatch = this.#pen.createPattern(hatch(theme), 'repeat');
    this.#finishLabel = axis.finish;
    this.#from = from;
    this.#scale = scale;
    this.#pen.clearRect(0, 0, this.width, this.height);
    this.#axis(axis);
  }

  /** Draw the rounds of a lane from an index on, as far as they are in sight. */
  rounds(lane, row, index) {
    const edge = this.#from + this.width / this.#scale;
    for (const round of lane.rounds.slice(index)) {
      if (round.startMs > edge) break;
      this.#round(round, row);
    }
    if (lane.hasEnded && lane.clockMs <= edge) this.#finish(lane, row);
  }

  /** Frame the round that is pointed at. */
  frame({ startMs, endMs }, row) {
    const pen = this.#pen;
    pen.strokeStyle = this.#theme.ink;
    pen.lineWidth = 2;
    const width = Math.max(4, (endMs - startMs) * this.#scale);
    pen.strokeRect(this.#x(startMs) - 1, row.top - 2, width + 2, row.height + 4);
  }

  #x(ms) {
    return (ms - this.#from) * this.#scale;
  }

  #round({ number, startMs, endMs, times }, row) {
    const pen = this.#pen;
    let at = startMs;
    for (const kind of KINDS) {
      const height = row.height * HEIGHTS[kind];
      /** @type {[number, number, number, number]} */
      const box = [this.#x(at), row.top + row.height - height, times[kind] * this.#scale, height];
      pen.fillStyle = this.#theme[kind];
      pen.fillRect(...box);
      if (kind === 'draft' && box[2] >= ROOM_FOR_HATCH_PX) {
        pen.fillStyle = this.#hatch;
        pen.fillRect(...box);
      }
      if (kind === 'verify' && box[2] >= ROOM_FOR_NUMBER_PX) this.#number(number, box);
      at += times[kind];
    }
    const width = (endMs - startMs) * this.#scale;
    if (width >= ROOM_FOR_GAP_PX) pen.clearRect(this.#x(endMs) - 1, row.top, 1, row.height);
  }

  #number(number, [left, top, width, height]) {
    const pen = this.#pen;
    pen.fillStyle = this.#theme.surface;
    pen.font = this.#font();
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillText(number, left + width / 2, top + height / 2);
  }

  #finish({ clockMs }, row) {
    const pen = this.#pen;
    const x = this.#x(clockMs);
    pen.fillStyle = this.#theme.ink;
    pen.fillRect(x, row.top - 4, 2, row.height + 8);
    pen.font = this.#font();
    const text = this.#finishLabel(clockMs);
    const left = x + FLAG_PX + 4;
    const right = left + pen.measureText(text).width;
    if (right > this.width) return;
    pen.clearRect(x + 2, row.top, right - x, row.height);
    pen.beginPath();
    pen.moveTo(x + 2, row.top - 4);
    pen.lineTo(x + FLAG_PX, row.top + 1);
    pen.lineTo(x + 2, row.top + 6);
    pen.fill();
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.fillText(text, left, row.top + row.height / 2);
  }

  #axis({ top, label }) {
    const pen = this.#pen;
    const step = niceStep(TICK_PX / this.#scale);
    pen.font = this.#font();
    pen.textAlign = 'left';
    pen.textBaseline = 'top';
    for (let ms = Math.ceil(this.#from / step) * step; this.#x(ms) < this.width; ms += step) {
      pen.fillStyle = this.#theme.grid;
      pen.fillRect(this.#x(ms), 0, 1, top + 5);
      pen.fillStyle = this.#theme.soft;
      const [text, left] = [label(ms), this.#x(ms) + 3];
      if (left + pen.measureText(text).width <= this.width) pen.fillText(text, left, top + 2);
    }
  }

  #font() {
    return `${Math.round(11 * this.#theme.textScale)}px ${this.#theme.font}`;
  }
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (STEPS.find((step) => step * power >= least) ?? 10);
}

function hatch(theme) {
  const tile = document.createElement('canvas');
  [tile.width, tile.height] = [5, 5];
  const pen = tile.getContext('2d');
  pen.strokeStyle = theme.surface;
  pen.lineWidth = 1.2;
  for (const shift of [-5, 0, 5]) {
    pen.moveTo(shift, 5);
    pen.lineTo(shift + 5, 0);
  }
  pen.stroke();
  return tile;
}

// What the charts are made of: lines, bars and axes in the page's colours.
import { laneName } from '../model/names.js';
import { asText } from '../page/plotly_text.js';
import { t } from '../page/strings.js';

const DASHES = ['dot', 'solid', 'dash', 'dashdot'];

/** A lane's line over its rounds; `rest` says what it shows. */
export function line(lane, theme, rest) {
  const shape = { color: theme.lanes[lane.index], width: 2.5, dash: DASHES[lane.index] };
  const traced = { type: 'scatter', mode: 'lines', name: asText(laneName(lane)), line: shape };
  return { ...traced, x: numbersOf(lane), ...rest };
}

/** Bars of one colour. */
export function bars(y, color, rest = {}) {
  return { type: 'bar', y, marker: { color }, hovertemplate: '%{y}', ...rest };
}

/** What theory expects, drawn over what happened. */
export function theory(name, x, y, color, hovertemplate) {
  const marker = { color, symbol: 'diamond-open', size: 8 };
  const dots = { color, width: 1.5, dash: 'dot' };
  return { type: 'scatter', mode: 'lines+markers', name, x, y, marker, line: dots, hovertemplate };
}

/** A dashed line across the whole chart. */
export function level(y, color) {
  const shape = { color, width: 1.5, dash: 'dash' };
  return { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: shape };
}

/** The title of an axis. */
export function axis(name) {
  return { text: t(`chart.axis_${name}`), standoff: 6 };
}

/** The layout of a chart whose axis counts rounds. */
export function overRounds(rest) {
  const x = { title: axis('round'), rangemode: 'tozero' };
  return { x, hovermode: 'x unified', bargap: 0.15, ...rest };
}

/** The numbers of a lane's rounds, from 1. */
export function numbersOf(lane) {
  return lane.rounds.map((round) => round.number);
}

/** What each round of a lane has to say. */
export function each(lane, read) {
  return lane.rounds.map(read);
}

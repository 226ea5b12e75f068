// The chart of the speedup so far, with what theory predicts and what was forecast of its end.
import { each, level, line, overRounds } from './chart_parts.js';
import { laneName } from '../model/names.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

const OPACITY = 0.16;

/** The running speedup of each lane that drafts; a line ends at the lane's headline. */
export const speedupChart = {
  id: 'speedup',
  lanes: (race) => race.drafting,
  draw: (lanes, theme) => ({
    traces: lanes.map((lane) => line(lane, theme, { y: speedups(lane), hovertemplate: '%{y:.2f}×' })),
    layout: overRounds({
      y: { rangemode: 'tozero', ticksuffix: '×' },
      shapes: [
        level(1, theme.soft),
        ...lanes.flatMap((lane) => [...predicted(lane, theme), ...forecast(lane, theme)]),
      ],
    }),
  }),
  tell: (lane) => {
    const { number } = lane.rounds.at(-1);
    const told = { lane: laneName(lane), round: number, speedup: decimals(speedups(lane).at(-1), 2) };
    const expected = lane.metrics?.predicted_speedup ?? null;
    const sentence = t('chart.speedup_now', told);
    if (expected === null) return sentence;
    return `${sentence} ${t('chart.speedup_predicted', { speedup: decimals(expected, 2) })}`;
  },
};

/** Where the lane stood after each round; the baseline's last steps may still move where it ends. */
function speedups(lane) {
  const values = each(lane, (round) => round.speedup);
  const isUpToDate = lane.metrics?.num_rounds === lane.rounds.length;
  if (lane.hasEnded && isUpToDate) values[values.length - 1] = lane.speedup;
  return values;
}

/** What alpha, c and v predict, as a dashed line in the lane's colour. */
function predicted(lane, theme) {
  const speedup = lane.metrics?.predicted_speedup ?? null;
  return speedup === null ? [] : [level(speedup, theme.lanes[lane.index])];
}

/** The forecast's interval, from the round it was made in to where the line is. */
function forecast(lane, theme) {
  if (!lane.forecast) return [];
  const { num_rounds: from, low, high } = lane.forecast;
  const to = Math.max(lane.rounds.length, from + 1);
  const color = theme.lanes[lane.index];
  const band = { type: 'rect', x0: from, x1: to, y0: low, y1: high, layer: 'below' };
  return [{ ...band, fillcolor: color, opacity: OPACITY, line: { width: 0 } }];
}

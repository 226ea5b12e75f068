// What each chart shows, as plotly traces and layout; the numbers come from the server as they are.

/** The numbers of a race that has not begun. */
export function emptySeries() {
  return { names: [], time: [], round: [], share: [], alpha: [], speedup: [] };
}

/** Colours of the page as it looks now. */
export function readTheme() {
  const style = getComputedStyle(document.querySelector('.sv-charts'));
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    ink: read('--sv-ink-soft'),
    grid: read('--sv-line'),
    lane: read('--sv-accent'),
    plain: read('--sv-ink-soft'),
    bar: read('--sv-bar-soft'),
    font: style.fontFamily,
  };
}

export const CHARTS = [
  {
    title: 'Speedup so far',
    about: 'Line chart: running speedup over rounds',
    draw: (series, theme) => ({
      traces: [line('speedup', series.round, series.speedup, theme.lane, '%{y:.2f}×')],
      layout: layout(theme, {
        x: 'round',
        y: { rangemode: 'tozero', ticksuffix: '×' },
        shapes: [level(1, theme.plain)],
        isEmpty: !series.round.length,
      }),
    }),
  },
  {
    title: 'Accepted share of judged guesses',
    about: 'Bars: accepted share per round; line: running alpha',
    draw: (series, theme) => ({
      traces: [
        {
          type: 'bar',
          name: 'this round',
          x: series.round,
          y: series.share,
          marker: { color: theme.bar },
          hovertemplate: '%{y:.0%}',
        },
        line('running α', series.round, series.alpha, theme.lane, '%{y:.1%}'),
      ],
      layout: layout(theme, {
        x: 'round',
        y: { range: [0, 1.04], tickformat: '.0%' },
        isEmpty: !series.round.length,
      }),
    }),
  },
  {
    title: 'Tokens over the lanes’ own clocks',
    about: 'Line chart: tokens written over device time, one line a lane',
    draw: (series, theme) => ({
      traces: series.time.map((points, lane) => ({
        ...line(series.names[lane], points.x, points.y, lane ? theme.lane : theme.plain, '%{y}'),
        line: { color: lane ? theme.lane : theme.plain, width: 2.5, dash: lane ? 'solid' : 'dot' },
      })),
      layout: layout(theme, {
        x: 'seconds',
        y: { rangemode: 'tozero' },
        isEmpty: !series.time.length,
      }),
    }),
  },
];

function line(name, x, y, color, hovertemplate) {
  const shape = { color, width: 2.5 };
  return { type: 'scatter', mode: 'lines', name, x, y, line: shape, hovertemplate };
}

function level(y, color) {
  const shape = { color, width: 1, dash: 'dash' };
  return { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: shape };
}

function layout(theme, { x, y, shapes = [], isEmpty }) {
  const axis = {
    gridcolor: theme.grid,
    linecolor: theme.grid,
    zerolinecolor: theme.grid,
    automargin: true,
    fixedrange: false,
  };
  const hint = { text: 'appears with the race', showarrow: false, font: { color: theme.ink } };
  return {
    uirevision: 'race',
    autosize: true,
    height: 240,
    margin: { l: 8, r: 8, t: 8, b: 8 },
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: theme.font, color: theme.ink, size: 12 },
    xaxis: { ...axis, title: { text: x, standoff: 6 }, rangemode: 'tozero', range: isEmpty ? [0, 20] : undefined },
    yaxis: { ...axis, ...y },
    legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom' },
    hovermode: 'x unified',
    bargap: 0.15,
    shapes,
    annotations: isEmpty ? [{ ...hint, xref: 'paper', yref: 'paper', x: 0.5, y: 0.5 }] : [],
  };
}

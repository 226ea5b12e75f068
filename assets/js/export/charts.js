// All charts of a race in a file that has no plotly: still pictures of the page's own, drawn as the race is shown.
import { drawFigure } from './figure.js';
import { drawSample } from './traces.js';
import { CHARTS } from '../race/chart_specs.js';
import { laneName } from '../model/names.js';
import { make, setText, wrap } from '../page/dom.js';
import { pictureButtons } from '../page/element_picture.js';
import { plainText } from '../page/plotly_text.js';
import { onThemeChange, readTheme } from '../page/theme.js';
import { t } from '../page/strings.js';

/** While a race is shown, its charts are drawn this far apart. */
const REDRAW_MS = 500;

/** Draw the charts and keep them up with the race; none before there is something to draw. */
export function mountCharts(container, { playback }) {
  const charts = CHARTS.map((chart) => new StillChart(chart));
  const row = wrap('div', 'sv-charts', ...charts.map((chart) => chart.element));
  row.hidden = true;
  container.append(row);
  let timer = 0;
  const draw = () => {
    timer = 0;
    const theme = readTheme();
    for (const chart of charts) chart.draw(theme);
  };
  playback.follow((race, isNew) => {
    if (isNew || race.lanes.length !== charts[0].numLanes) for (const chart of charts) chart.open(race);
    row.hidden = !race.hasRounds;
    if (race.isOver) draw();
    else timer ||= window.setTimeout(draw, REDRAW_MS);
  });
  onThemeChange(draw);
  // Pictures are as wide as there is room; a tab that was closed has none.
  new ResizeObserver(draw).observe(row);
}

/** One chart: its title, a choice of lane where it shows one at a time, what its lines are called, and the picture. */
class StillChart {
  #chart;
  #race = null;
  #pick = make('select', 'sv-chart-lane', '', { 'aria-label': t('chart.lane'), hidden: '' });
  #key = make('ul', 'sv-still-key', '', { 'aria-hidden': 'true' });
  #picture = make('div', 'sv-still', '', { role: 'img' });
  numLanes = 0;

  constructor(chart) {
    this.#chart = chart;
    this.element = make('figure', 'sv-chart');
    this.element.dataset.chart = chart.id;
    this.element.classList.toggle('is-wide', chart.isWide === true);
    this.#pick.addEventListener('change', () => this.draw(readTheme()));
    const title = t(`chart.${chart.id}`);
    const drawn = wrap('div', '', this.#key, this.#picture);
    const tools = wrap('span', 'sv-picture-head', this.#pick, pictureButtons(drawn, chart.id, title));
    this.element.append(wrap('figcaption', '', make('span', '', title), tools), drawn);
  }

  /** Show a race from now on, and offer its lanes; one alone is no choice. */
  open(race) {
    this.#race = race;
    this.numLanes = race.lanes.length;
    const lanes = this.#chart.picks ? this.#chart.lanes(race) : [];
    this.#pick.replaceChildren(...lanes.map((lane) => make('option', '', laneName(lane), { value: lane.index })));
    this.#pick.hidden = lanes.length < 2;
    const first = lanes.find((lane) => !lane.isBaseline);
    if (first) this.#pick.value = first.index;
  }

  /** Draw the race as far as it has come. */
  draw(theme) {
    const lanes = this.#shown();
    const width = this.#picture.clientWidth;
    const says = lanes.length ? lanes.map((lane) => this.#chart.tell(lane)) : [t('chart.empty')];
    this.#picture.setAttribute('aria-label', [t(`chart.${this.#chart.id}_about`), ...says].join(' '));
    if (!lanes.length) setText(this.#picture, t('chart.empty'));
    this.#key.hidden = !lanes.length;
    if (!lanes.length || !width) return;
    const figure = this.#chart.draw(lanes, theme);
    const id = `sv-still-${this.#chart.id}`;
    this.#picture.replaceChildren(drawFigure(figure, theme, width, id));
    this.#key.replaceChildren(...keyOf(figure.traces, theme, id));
  }

  #shown() {
    if (!this.#race) return [];
    const { lanes, picks, isReady = (lane) => lane.rounds.length > 0 } = this.#chart;
    const ready = lanes(this.#race).filter(isReady);
    return picks ? ready.filter((lane) => lane.index === Number(this.#pick.value)) : ready;
  }
}

/** What each line and bar is called, where there are several. */
function keyOf(traces, theme, id) {
  const named = traces.filter((trace) => trace.name && trace.showlegend !== false);
  if (named.length < 2) return [];
  return named.map((trace, index) => {
    const words = make('span', '', plainText(trace.name));
    return wrap('li', '', drawSample(trace, theme, `${id}-key-${index}`), words);
  });
}

// One chart in its frame: a title, a choice of lane where it shows one at a time, and the plot.
import { emptyChart } from './chart_specs.js';
import { make } from '../core/dom.js';
import { CONFIG, chartLayout } from '../core/plotly.js';
import { t } from '../core/strings.js';

const HEIGHT_PX = 240;
/** Names of many lanes take room of their own. */
const NAME_PX = 22;
const FEW_LANES = 2;

/** Draws one chart of a race; `onPick` is called when a visitor chooses another lane. */
export class ChartFrame {
  #chart;
  #series;
  #image;
  #plot;
  #pick;
  #revision = 0;
  isSeen = false;
  isStale = true;

  constructor(chart, series, onPick) {
    this.#chart = chart;
    this.#series = series;
    this.element = make('figure', 'sv-chart');
    this.element.dataset.chart = chart.id;
    this.element.classList.toggle('is-wide', chart.isWide === true);
    const head = make('figcaption');
    this.#pick = make('select', 'sv-chart-lane', '', { 'aria-label': t('chart.lane') });
    this.#pick.addEventListener('change', () => {
      this.isStale = true;
      onPick();
    });
    head.append(make('span', '', t(`chart.${chart.id}`)), this.#pick);
    // Not on the plot itself, whose buttons a picture would hide.
    this.#image = make('div', 'sv-spoken', '', { role: 'img' });
    this.#plot = make('div', 'sv-plot');
    this.element.append(head, this.#image, this.#plot);
    this.fit();
  }

  /** Offer the lanes of a new race; lanes of which there are not several are no choice. */
  fit() {
    const lanes = this.#chart.picks ? this.#chart.lanes(this.#series) : [];
    this.#pick.replaceChildren(
      ...lanes.map((lane) => make('option', '', lane.name, { value: lane.index })),
    );
    this.#pick.hidden = lanes.length < 2;
    const first = lanes.find((lane) => !lane.isPlain);
    if (first) this.#pick.value = first.index;
    this.#image.setAttribute('aria-label', this.#describe([]));
  }

  /** Draw the newest numbers. */
  draw(theme) {
    this.isStale = false;
    const lanes = this.#shown();
    const { traces, layout } = lanes.length ? this.#chart.draw(lanes, theme) : emptyChart(theme);
    window.Plotly.react(
      this.#plot,
      traces,
      chartLayout(theme, {
        height: theme.textScale * (HEIGHT_PX + NAME_PX * Math.max(0, lanes.length - FEW_LANES)),
        uirevision: `${this.#series.race} ${this.#pick.value}`,
        // The arrays grow in place, so plotly has to be told that they changed.
        datarevision: ++this.#revision,
        ...layout,
      }),
      CONFIG,
    );
    for (const drawing of this.#plot.querySelectorAll('.main-svg')) drawing.ariaHidden = 'true';
    this.#image.setAttribute('aria-label', this.#describe(lanes));
  }

  #shown() {
    const { lanes, picks, isReady = (lane) => lane.round.length > 0 } = this.#chart;
    const ready = lanes(this.#series).filter(isReady);
    return picks ? ready.filter((lane) => lane.index === Number(this.#pick.value)) : ready;
  }

  #describe(lanes) {
    const about = t(`chart.${this.#chart.id}_about`);
    const now = lanes.length ? lanes.map((lane) => this.#chart.tell(lane)) : [t('chart.empty')];
    return [about, ...now].join(' ');
  }
}

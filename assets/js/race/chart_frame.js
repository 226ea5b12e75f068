// One chart in its frame: a title, a choice of lane where it shows one at a time, and the plot.
import { emptyChart } from './chart_specs.js';
import { laneName } from '../model/names.js';
import { make, wrap } from '../page/dom.js';
import { savableConfig } from '../page/chart_picture.js';
import { chartLayout } from '../page/plotly.js';
import { t } from '../page/strings.js';

const HEIGHT_PX = 240;
/** Names of many lanes take room of their own. */
const NAME_PX = 22;
const FEW_LANES = 2;
/** Of a small chart's axis. */
const FEW_TICKS = 5;

/** Draws one chart of a race; `onPick` is called when a visitor chooses another lane. */
export class ChartFrame {
  #chart;
  #config;
  #race = null;
  #image;
  #plot;
  #pick;
  #revision = 0;
  /** Counts the races, so that a zoom ends with its race. */
  #numRaces = 0;
  isSeen = false;
  /** Whether it stands beside the lanes and not below them. */
  isBeside = false;
  isStale = true;

  /** A small chart stands beside the lanes: as high as there is room, without names and buttons. */
  constructor(chart, onPick, isSmall = false) {
    this.#chart = chart;
    this.isBeside = isSmall;
    const title = t(`chart.${chart.id}`);
    this.#config = { ...savableConfig(chart.id, title), ...(isSmall && { displayModeBar: false }) };
    this.element = make('figure', isSmall ? 'sv-live-chart' : 'sv-chart');
    this.element.dataset.chart = chart.id;
    this.element.classList.toggle('is-wide', chart.isWide === true);
    this.#pick = make('select', 'sv-chart-lane', '', { 'aria-label': t('chart.lane') });
    this.#pick.addEventListener('change', () => {
      this.isStale = true;
      onPick();
    });
    const head = wrap('figcaption', '', make('span', '', title), this.#pick);
    // Not on the plot itself, whose buttons a picture would hide.
    this.#image = make('div', 'sv-spoken', '', { role: 'img' });
    this.#plot = make('div', 'sv-plot');
    this.element.append(head, this.#image, this.#plot);
  }

  /** Show a race from now on, and offer its lanes; lanes of which there are not several are no choice. */
  open(race) {
    this.#race = race;
    this.#numRaces += 1;
    const lanes = this.#chart.picks ? this.#chart.lanes(race) : [];
    const options = lanes.map((lane) => make('option', '', laneName(lane), { value: lane.index }));
    this.#pick.replaceChildren(...options);
    this.#pick.hidden = lanes.length < 2;
    const first = lanes.find((lane) => !lane.isBaseline);
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
        ...this.#size(theme, lanes.length),
        uirevision: `${this.#numRaces} ${this.#pick.value}`,
        datarevision: ++this.#revision,
        ...layout,
        ...(this.isBeside && smaller(layout, theme)),
      }),
      this.#config,
    );
    for (const drawing of this.#plot.querySelectorAll('.main-svg')) drawing.ariaHidden = 'true';
    this.#image.setAttribute('aria-label', this.#describe(lanes));
  }

  #size(theme, numLanes) {
    if (this.isBeside) return { height: this.#plot.clientHeight };
    const names = NAME_PX * Math.max(0, numLanes - FEW_LANES);
    return { height: theme.textScale * (HEIGHT_PX + names) };
  }

  #shown() {
    const { lanes, picks, isReady = (lane) => lane.rounds.length > 0 } = this.#chart;
    const ready = lanes(this.#race).filter(isReady);
    return picks ? ready.filter((lane) => lane.index === Number(this.#pick.value)) : ready;
  }

  #describe(lanes) {
    const about = t(`chart.${this.#chart.id}_about`);
    const now = lanes.length ? lanes.map((lane) => this.#chart.tell(lane)) : [t('chart.empty')];
    return [about, ...now].join(' ');
  }
}

/**
 * A layout for little room: the lanes' heads have the names, and rounds are what all of it counts. Its
 * margins are fixed, since plotly would measure the labels for them at every redraw.
 */
function smaller({ x, y }, { textScale }) {
  const still = { automargin: false, nticks: FEW_TICKS };
  return {
    showlegend: false,
    x: { ...x, ...still, title: { text: '' } },
    y: { ...y, ...still },
    margin: { l: 38 * textScale, r: 8, t: 6, b: 20 * textScale },
  };
}

// One chart of a sweep in its frame: title, choice of draft where it shows one, plot, and what it says now.
import { make, setText, wrap } from '../page/dom.js';
import { savableConfig } from '../page/chart_picture.js';
import { chartLayout, loadPlotly } from '../page/plotly.js';
import { t } from '../page/strings.js';
import { onThemeChange, readTheme } from '../page/theme.js';

const HEIGHT_PX = 270;
/** Where there is little room, the names of what is drawn stand one below the other. */
const NARROW_PX = 420;
const NAME_PX = 18;

/** Draws a chart of `charts.js` when it is in sight and has something new to show. */
export class ChartBox {
  #chart;
  #address;
  #config;
  #plot = make('div', 'sv-plot');
  #image = make('div', 'sv-spoken', '', { role: 'img' });
  #says = make('p', 'sv-chart-says');
  #pick;
  #results = null;
  #isSeen = false;
  #isStale = false;
  #width = 0;

  constructor(chart, address) {
    this.#chart = chart;
    this.#address = address;
    const title = t(`sweep_page.chart_${chart.id}`);
    this.#config = savableConfig(`sweep-${chart.id}`, title);
    this.#pick = make('select', 'sv-chart-lane', '', { 'aria-label': t('sweep_page.pick') });
    this.#pick.hidden = true;
    this.#pick.addEventListener('change', () => this.#renew());
    const head = wrap('figcaption', '', make('span', '', title), this.#pick);
    this.element = wrap('figure', 'sv-chart', head, this.#says, this.#image, this.#plot);
    new IntersectionObserver((entries) => {
      this.#isSeen = entries.at(-1).isIntersecting;
      this.#draw();
    }).observe(this.element);
    new ResizeObserver(() => {
      if (this.#plot.clientWidth === this.#width) return;
      this.#isStale = true;
      this.#draw();
    }).observe(this.#plot);
    onThemeChange(() => this.#renew());
  }

  /** Show the results as they stand. */
  show(results) {
    this.#results = results;
    if (this.#chart.picks) this.#offer(results.leaders.map(({ draft }) => draft));
    this.#renew();
  }

  #offer(drafts) {
    const shown = [...this.#pick.options].map(({ value }) => value);
    this.#pick.hidden = drafts.length < 2;
    if (shown.join('\n') === drafts.join('\n')) return;
    const chosen = drafts.includes(this.#pick.value) ? this.#pick.value : drafts[0];
    this.#pick.replaceChildren(...drafts.map((draft) => make('option', '', draft, { value: draft })));
    if (chosen !== undefined) this.#pick.value = chosen;
  }

  #renew() {
    if (!this.#results) return;
    const told = this.#chart.tell(this.#results, this.#pick.value);
    setText(this.#says, told);
    this.#image.setAttribute('aria-label', `${t(`sweep_page.chart_${this.#chart.id}_about`)} ${told}`);
    this.#isStale = true;
    this.#draw();
  }

  async #draw() {
    if (!this.#isSeen || !this.#isStale || !this.#results) return;
    this.#isStale = false;
    await loadPlotly(this.#address);
    this.#width = this.#plot.clientWidth;
    const theme = readTheme();
    const { traces, layout } = this.#chart.draw(this.#results, theme, this.#pick.value);
    const numNames = this.#width < NARROW_PX ? traces.filter((each) => each.showlegend !== false).length : 0;
    const height = theme.textScale * (HEIGHT_PX + NAME_PX * numNames);
    await window.Plotly.react(this.#plot, traces, chartLayout(theme, { height, ...layout }), this.#config);
    for (const drawing of this.#plot.querySelectorAll('.main-svg')) drawing.ariaHidden = 'true';
  }
}

// Every draft at its best γ on every kind of text, as a table of coloured buttons; each races its cell.
import { raceLive } from '../race/race_live.js';
import { hasLive, onBusyChange } from '../model/panels.js';
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { pictureButtons } from '../page/element_picture.js';
import { setEnabled } from '../page/enabled.js';
import { decimals, times } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { kindName, raceOf } from './results.js';

const MEASURES = ['speedup', 'alpha'];
/** A speedup, or its inverse, that has the full colour. */
const FULL = 2.5;

/** How strong a cell's colour is, from 0 to 1, and whether it stands for a gain. */
export function shadeOf(measure, value) {
  if (measure === 'alpha') return { share: value, isGain: true };
  return { share: Math.min(1, Math.abs(Math.log(value)) / Math.log(FULL)), isGain: value >= 1 };
}

/** The heat map, with its choice of what the cells say. */
export class HeatMap {
  #results = null;
  #measure = MEASURES[0];
  #says = make('p', 'sv-chart-says');
  #head = make('tr');
  #body = make('tbody');
  #buttons = [];

  constructor() {
    const caption = make('caption', 'sv-spoken', t('sweep_page.heat_about'));
    const table = wrap('table', 'sv-heat', caption, wrap('thead', '', this.#head), this.#body);
    const region = { tabindex: '0', role: 'region', 'aria-label': t('sweep_page.heat') };
    const scroller = make('div', 'sv-scroll sv-heat-scroll', '', region);
    scroller.append(table);
    const tools = wrap('div', 'sv-picture-head', this.#choice(), pictureButtons(table, 'sweep-heat', t('sweep_page.heat')));
    const title = wrap('div', 'sv-sweep-head', make('h2', '', t('sweep_page.heat')), tools);
    this.element = wrap('section', 'sv-sweep-card', title, this.#says, scroller);
    onBusyChange(() => this.#enable());
  }

  /** Draw the cells as they stand; whoever is on one stays there. */
  show(results) {
    this.#results = results;
    const at = this.#buttons.findIndex((button) => button === document.activeElement);
    this.#buttons = [];
    const categories = results.categories.slice(1);
    const kinds = categories.map((category) => kindName(results, category));
    const columns = [t('sweep_page.lanes'), 'γ', ...kinds].map((name) => make('th', '', name, { scope: 'col' }));
    this.#head.replaceChildren(...columns);
    this.#body.replaceChildren(...results.leaders.map((leader) => this.#row(leader, categories)));
    setText(this.#says, this.#tell(categories));
    this.#enable();
    this.#buttons[at]?.focus({ preventScroll: true });
  }

  #choice() {
    const segments = MEASURES.map((value) => {
      const input = make('input', '', '', { type: 'radio', name: 'sv-heat-measure', value });
      input.checked = value === this.#measure;
      input.addEventListener('change', () => {
        this.#measure = value;
        if (this.#results) this.show(this.#results);
      });
      return wrap('label', 'sv-segment', input, make('span', '', t(`sweep_page.heat_${value}`)));
    });
    const legend = make('legend', 'sv-spoken', t('sweep_page.heat_measure'));
    return wrap('fieldset', 'sv-plain-field', legend, wrap('div', 'sv-segments', ...segments));
  }

  #row(leader, categories) {
    const name = make('th', '', leader.draft, { scope: 'row' });
    const cells = categories.map((category) => wrap('td', '', this.#cell(leader, category)));
    return wrap('tr', '', name, make('td', 'sv-heat-gamma', String(leader.gamma)), ...cells);
  }

  #cell(leader, category) {
    const cell = this.#results.cell(leader.draft, leader.gamma, category);
    const value = cell?.[this.#measure] ?? null;
    if (value === null) return make('span', 'sv-heat-empty', '–');
    const isSpeedup = this.#measure === 'speedup';
    const text = isSpeedup ? times(value) : decimals(value, 2);
    const race = () => raceLive(raceOf(this.#results, leader, category));
    const button = makeButton('', race, 'sv-heat-cell');
    button.append(make('b', '', isSpeedup && value < 1 ? `▼ ${text}` : text));
    const ends = isSpeedup && cell.speedup_low !== null;
    if (ends) {
      button.append(make('small', '', `${decimals(cell.speedup_low, 2)}–${decimals(cell.speedup_high, 2)}`));
    }
    const { share, isGain } = shadeOf(this.#measure, value);
    button.classList.toggle('is-gain', isGain);
    button.style.setProperty('--sv-share', share.toFixed(2));
    const values = { draft: leader.draft, gamma: leader.gamma, category: kindName(this.#results, category), value: text };
    button.setAttribute('aria-label', t('sweep_page.heat_cell', values));
    button.title = t('sweep_page.heat_title', values);
    this.#buttons.push(button);
    return button;
  }

  #tell(categories) {
    const found = this.#results.leaders.flatMap((leader) =>
      categories.map((category) => ({
        draft: leader.draft,
        category,
        speedup: this.#results.cell(leader.draft, leader.gamma, category)?.speedup ?? null,
      })),
    );
    const sorted = found.filter(({ speedup }) => speedup !== null).sort((one, other) => other.speedup - one.speedup);
    if (!sorted.length) return '';
    const [high, low] = [sorted[0], sorted.at(-1)];
    return t('sweep_page.heat_now', {
      draft: high.draft,
      category: kindName(this.#results, high.category),
      speedup: times(high.speedup),
      other: low.draft,
      where: kindName(this.#results, low.category),
      least: times(low.speedup),
    });
  }

  #enable() {
    for (const button of this.#buttons) setEnabled(button, !hasLive());
  }
}

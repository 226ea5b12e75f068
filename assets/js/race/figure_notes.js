// Below the figures of a lane: why its speedup is to be doubted, and what was forecast of its end.
import { make, setText, wrap } from '../page/dom.js';
import { decimals } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Doubts that are the machine's, not the theory's. */
const OF_MACHINE = new Set(['cheap-check', 'interrupted']);

/** The chip of a lane's doubts: its name and its sentences, or null where nothing is doubted. */
export function doubtOf({ metrics }) {
  const doubts = metrics?.doubts ?? [];
  if (!doubts.length) return null;
  const kind = doubts.some((each) => OF_MACHINE.has(each)) ? 'machine' : 'theory';
  const values = { v: decimals(metrics.verify_cost, 2), percent: parting(metrics) };
  const sentences = doubts.map((each) => t(`doubt.${each.replaceAll('-', '_')}`, values));
  return { name: t(`doubt.${kind}`, values), about: [...sentences, t(`doubt.${kind}_cure`)].join(' ') };
}

/** What was forecast, and what became of it; empty before there is a forecast. */
export function forecastOf({ forecast, speedup }) {
  if (!forecast) return '';
  const margin = (forecast.high - forecast.low) / 2;
  const ends = { speedup: decimals(forecast.speedup, 1), margin: decimals(margin, 1) };
  const made = t('forecast.made', { n: forecast.num_rounds, ...ends });
  if (forecast.held === null) return made;
  const outcome = forecast.held ? 'held' : 'failed';
  return `${made} ${t(`forecast.${outcome}`, { speedup: decimals(speedup, 2) })}`;
}

/** How far the two speedups may part before it is said. */
const PARTED = 0.05;

/** What the whole clocks would give, where a finished race's differ from the window in which both ran. */
export function wholeOf({ metrics, speedup }, isOver) {
  const whole = metrics?.whole_speedup ?? null;
  if (!isOver || whole === null || speedup === null || Math.abs(whole / speedup - 1) < PARTED) return '';
  return t('figure.speedup_whole', { whole: decimals(whole, 2) });
}

/** One line that keeps its place, so that nothing moves when it begins to speak. */
export class FigureNotes {
  #chip = make('span', 'sv-doubt');
  #about = make('span', 'sv-doubt-about');
  #whole = make('span');
  #forecast = make('span', 'sv-forecast');

  constructor() {
    this.element = wrap('p', 'sv-figure-notes', this.#chip, this.#about, this.#whole, this.#forecast);
  }

  /** Show how a lane stands. */
  show(lane, isOver) {
    const doubt = doubtOf(lane);
    setText(this.#chip, doubt?.name ?? '');
    setText(this.#about, doubt?.about ?? '');
    setText(this.#whole, wholeOf(lane, isOver));
    setText(this.#forecast, forecastOf(lane));
    this.#forecast.dataset.held = String(lane.forecast?.held ?? '');
  }
}

function parting({ efficiency }) {
  return efficiency === null ? '' : decimals(Math.abs(efficiency - 1) * 100, 0);
}

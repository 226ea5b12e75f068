// What the page says of a speedup: its interval, why it is to be doubted, what was forecast of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEnglish } from './strings_of_the_page.js';
import { speedupChart } from '../../assets/js/race/chart_speedup.js';
import { doubtOf, forecastOf, wholeOf } from '../../assets/js/race/figure_notes.js';
import { FIGURES, intervalOf } from '../../assets/js/race/figure_table.js';

useEnglish();
const THEME = { lanes: ['black', 'blue'], soft: 'grey' };
const WINDOW = {
  ms: 400, num_emitted: 100, num_rounds: 30,
  baseline_ms: 410, baseline_num_emitted: 41, baseline_num_rounds: 41,
};

function lane({ metrics = {}, forecast = null, hasEnded = false } = {}) {
  const rounds = [2.0, 2.2, 2.4].map((speedup, index) => ({ speedup, number: index + 1 }));
  const known = {
    num_rounds: 3, speedup: 2.5, speedup_low: 2.31, speedup_high: 2.64, doubts: [], window: WINDOW,
    predicted_speedup: 2.8, efficiency: 0.893, expected_tau: 3.5, round_cost: 1.25, verify_cost: 1.1,
    draft_cost: 0.05, alpha: 0.8, ...metrics,
  };
  const spec = { method: 'draft-model' };
  return { index: 1, spec, specs: [spec], rounds, metrics: known, speedup: known.speedup, forecast, hasEnded };
}

test('a speedup stands with its interval, or without one where the race is short', () => {
  assert.equal(intervalOf(lane().metrics), '2.3 to 2.6');
  assert.equal(intervalOf({ speedup_low: null, speedup_high: null }), '');
});

test('its formula has the clocks of the common window, and says where the interval comes from', () => {
  const timed = lane({ metrics: { speedup: 410 / 41 / (400 / 100) } });
  assert.equal(FIGURES.speedup.formula({}, timed), '(410.0 ms / 41 tokens) / (400.0 ms / 100 tokens) = 2.50×');
  assert.match(FIGURES.speedup.aside({}, timed), /^2\.31 to 2\.64: .* of these 30 rounds/);
  assert.equal(FIGURES.speedup.aside({}, lane({ metrics: { speedup_low: null } })), '');
});

test('the prediction can be worked out from what is shown', () => {
  const told = FIGURES.predicted.formula({}, lane());
  assert.equal(told, 'with α 80.0\u00a0%, c 0.050, v 1.100: 3.500 tokens / 1.250 steps = 2.80×');
  assert.equal(FIGURES.predicted.detail({}, lane()), 'efficiency 89\u00a0%');
});

test('a doubt is the machine’s or the theory’s, and says why', () => {
  assert.equal(doubtOf(lane()), null);
  const machine = doubtOf(lane({ metrics: { doubts: ['cheap-check', 'parted'], verify_cost: 0.93 } }));
  assert.equal(machine.name, 'noisy machine');
  assert.match(machine.about, /v = 0\.93.*part by 11 %/);
  const theory = doubtOf(lane({ metrics: { doubts: ['parted'], efficiency: 1.2 } }));
  assert.equal(theory.name, 'theory is 20 % off');
  assert.match(theory.about, /The clock is right/);
});

test('a forecast is told, then confirmed or refuted', () => {
  const forecast = { num_rounds: 20, speedup: 2.4, low: 2.2, high: 2.6, held: null };
  assert.equal(forecastOf(lane()), '');
  const made = 'Forecast after 20 rounds: it will end at 2.4 ± 0.2.';
  assert.equal(forecastOf(lane({ forecast })), made);
  assert.equal(forecastOf(lane({ forecast: { ...forecast, held: true } })), `${made} It held: 2.50×.`);
  assert.equal(forecastOf(lane({ forecast: { ...forecast, held: false } })), `${made} It did not hold: 2.50×.`);
});

test('the line of the speedup so far ends at the headline', () => {
  const ys = (each) => speedupChart.draw([each], THEME).traces[0].y;
  assert.deepEqual(ys(lane()), [2.0, 2.2, 2.4]);
  assert.deepEqual(ys(lane({ hasEnded: true })), [2.0, 2.2, 2.5]);
  const late = lane({ hasEnded: true, metrics: { num_rounds: 2 } });
  assert.deepEqual(ys(late), [2.0, 2.2, 2.4], 'figures that lag behind the rounds end no line');
});

test('what is predicted is a dashed line, and a forecast a band from its round on', () => {
  const forecast = { num_rounds: 20, speedup: 2.4, low: 2.2, high: 2.6, held: null };
  const { shapes } = speedupChart.draw([lane({ forecast })], THEME).layout;
  assert.deepEqual(shapes.map(({ type, y0, y1 }) => [type, y0, y1]), [
    ['line', 1, 1],
    ['line', 2.8, 2.8],
    ['rect', 2.2, 2.6],
  ]);
  assert.equal(shapes[2].x0, 20);
  const unknown = lane({ metrics: { predicted_speedup: null } });
  assert.equal(speedupChart.draw([unknown], THEME).layout.shapes.length, 1);
});

test('the whole clocks are told of where they say something else, once the race is over', () => {
  const told = (whole, isOver = true) => wholeOf(lane({ metrics: { whole_speedup: whole } }), isOver);
  assert.match(told(2.8), /^Over both whole clocks it would be 2\.80×/);
  assert.equal(told(2.6), '');
  assert.equal(told(2.8, false), '');
  assert.equal(told(null), '');
});

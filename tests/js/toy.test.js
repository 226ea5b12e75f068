// The lessons' formulas against what the papers say of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES, Toy, draw, faultOf, isAlwaysRight, keepChances, outcomeOf, overlap, residual } from '../../assets/js/learn/toy.js';

const P = [0.5, 0.3, 0.2];
const Q = [0.2, 0.7, 0.1];
const PAIRS = [
  [P, Q],
  [P, P],
  [[1, 0, 0], [0, 1, 0]],
  [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]],
  [[0.25, 0.25, 0.5], [0, 1, 0]],
];

test('the right rule writes exactly what the target would, and keeps the overlap of both', () => {
  for (const [p, q] of PAIRS) {
    const outcome = outcomeOf('right', p, q);
    assertNear(outcome.written, p);
    assertNear([outcome.rate], [overlap(p, q)]);
  }
});

test('every other rule writes something else, though a distribution', () => {
  for (const name of Object.keys(RULES).filter((rule) => rule !== 'right' && rule !== 'match')) {
    const { written } = outcomeOf(name, P, Q);
    assertNear([sum(written)], [1]);
    assert.ok(distance(written, P) > 0.01, `${name} writes p`);
  }
});

test('keeping only what the target would have said itself is right, and keeps less', () => {
  const outcome = outcomeOf('match', P, Q);
  assertNear(outcome.written, P);
  assert.ok(outcome.rate < overlap(P, Q));
});

test('a fault names the word that gains and the one that loses', () => {
  const fault = (rule, p, q) => faultOf(outcomeOf(rule, p, q).written, p);
  const { often, gained, seldom, lost } = fault('again', P, Q);
  assert.deepEqual([often, seldom], [1, 0]);
  assertNear([gained, lost], [0.12, 0.1]);
  for (const rule of ['right', 'match']) for (const [p, q] of PAIRS) assert.equal(fault(rule, p, q), null);
  assert.deepEqual(Object.keys(RULES).filter(isAlwaysRight), ['right', 'match']);
});

test('where nothing in common is guessed, a wrong rule writes p by luck, and is no right one', () => {
  const [p, q] = [[1, 0, 0], [0, 1, 0]];
  assert.equal(faultOf(outcomeOf('again', p, q).written, p), null);
  assert.equal(isAlwaysRight('again'), false);
});

test('a guess is kept with min(1, p / q), and a word never guessed has no chance', () => {
  assertNear(keepChances(P, Q), [1, 3 / 7, 1]);
  assert.deepEqual(keepChances([0.5, 0.5, 0], [1, 0, 0]), [0.5, null, null]);
});

test('the residual is what the draft gives too little of, and is nothing where both agree', () => {
  assertNear(residual(P, Q), [0.75, 0, 0.25]);
  assert.equal(residual(P, P), null);
});

test('words are drawn as often as their masses say', (context) => {
  let turn = 0;
  context.mock.method(Math, 'random', () => (turn++ + 0.5) / 1000);
  const counts = [0, 0, 0];
  for (let left = 1000; left > 0; left -= 1) counts[draw(P)] += 1;
  assert.deepEqual(counts, [500, 300, 200]);
});

test('a draw beyond the last mass gives the last word that has any', (context) => {
  context.mock.method(Math, 'random', () => 1 - Number.EPSILON);
  assert.equal(draw([0.5, 0.5 - 1e-12, 0]), 1);
});

test('what is dragged stays a distribution in whole percents, and the others keep their shares', () => {
  const toy = new Toy();
  const heard = [];
  toy.subscribe((p, q) => heard.push([p, q]));
  for (let percent = 50; percent <= 100; percent += 1) toy.set('p', 0, percent);
  assertNear(toy.distribution('p'), [1, 0, 0]);
  toy.set('p', 0, 40);
  assertNear(toy.distribution('p'), [0.4, 0.3, 0.3]);
  for (let percent = 45; percent >= 7; percent -= 1) toy.set('q', 1, percent);
  for (const [p, q] of heard) assertNear([sum(p), sum(q)], [1, 1]);
  assert.equal(heard.length, 1 + 51 + 1 + 39);
  assertNear(new Toy().distribution('q'), [0.35, 0.45, 0.2], 'each lab has its own');
  toy.reset();
  assertNear(toy.distribution('q'), [0.35, 0.45, 0.2]);
});

function assertNear(actual, expected) {
  assert.equal(actual.length, expected.length);
  assert.ok(distance(actual, expected) < 1e-12, `${actual} is not ${expected}`);
}

function distance(one, other) {
  return Math.max(...one.map((mass, word) => Math.abs(mass - other[word])));
}

function sum(masses) {
  return masses.reduce((total, mass) => total + mass, 0);
}

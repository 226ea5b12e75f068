// Numbers are written in the visitor's language, and a number that is not defined is not made up.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const numbersIn = async (language) => {
  globalThis.specvizLanguage = language;
  return import(`../../assets/js/page/numbers.js?${language}`);
};

test('English and Spanish write the same number in their own ways', async () => {
  const english = await numbersIn('en');
  const spanish = await numbersIn('es');
  assert.equal(english.times(2.314), '2.31×');
  assert.equal(spanish.times(2.314), '2,31×');
  assert.equal(english.percent(0.786), '79\u00a0%');
  assert.equal(spanish.percent(0.7861, 1), '78,6\u00a0%');
  assert.equal(english.separators(), '.,');
  assert.equal(spanish.separators()[0], ',');
});

test('what is not defined is a dash', async () => {
  const { MISSING, decimals, finePercent, percent, plain, significant, times } = await numbersIn('en');
  for (const write of [decimals, finePercent, percent, plain, significant, times]) {
    assert.equal(write(null, 1), MISSING);
    assert.equal(write(undefined, 1), MISSING);
  }
});

test('only what is all or nothing is called so', async () => {
  const { finePercent } = await numbersIn('en');
  assert.deepEqual(
    [0, 0.0001, 0.0123, 0.5, 0.996, 0.9999, 1].map(finePercent),
    ['0.0\u00a0%', '<0.1\u00a0%', '1.2\u00a0%', '50\u00a0%', '99.6\u00a0%', '>99.9\u00a0%', '100\u00a0%'],
  );
});

test('a quotient can be worked out from significant digits', async () => {
  const { significant } = await numbersIn('en');
  assert.equal(significant(0.76502883), '0.765');
  assert.equal(significant(0.000123456), '0.0001235');
});

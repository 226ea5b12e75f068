// A reading of a head in words, as its row in the table says it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readingText } from '../../assets/js/controls/head_doctor.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

test('a reading is said by what is not as the files state', () => {
  assert.equal(readingText('stated'), 'as its files state');
  assert.equal(readingText('taps-1 plain-rope'), 'states one layer earlier, positions without the stated scaling');
  assert.equal(readingText('taps+1 double-norm'), 'states one layer later, states normalised twice');
});

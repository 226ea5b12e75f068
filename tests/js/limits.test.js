// What the page allows is told line by line, and nothing that does not hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitLines } from '../../assets/js/controls/limits.js';
import { useEnglish } from './strings_of_the_page.js';

useEnglish();

const PUBLIC = {
  prompt_chars: 2000,
  prompt_tokens: 512,
  new_tokens: 192,
  lanes: 4,
  seconds: 20,
  visitor_races: 2,
  visitor_starts: 6,
  address_races: 24,
  queue_size: 32,
  allows_fits: false,
};

test('every limit of strangers is a sentence', () => {
  const lines = limitLines(PUBLIC);
  assert.equal(lines.length, 7);
  assert.match(lines[0], /2,000 characters/);
  assert.match(lines[2], /192 new tokens.*20 s/);
  assert.match(lines[4], /start 6 races a minute/);
});

test('what does not hold is left out', () => {
  const local = { ...PUBLIC, prompt_tokens: null, visitor_starts: null, allows_fits: true };
  assert.equal(limitLines(local).length, 4);
});

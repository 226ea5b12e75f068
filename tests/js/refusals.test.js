// What the server refuses is a sentence in the visitor's language, whatever it is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrate } from '../../assets/js/model/narration.js';
import { sentence } from '../../assets/js/page/strings.js';
import { useEnglish, useTextsOf } from './strings_of_the_page.js';

const NO_RACE = { id: 'format.no_race', reason: { id: 'format.no_object', found: { id: 'format.list' } } };

test('a refusal with a problem inside is one sentence in both languages', () => {
  useEnglish();
  assert.equal(
    sentence(NO_RACE),
    'This is not a specviz race: it is a list, not an object; take a file that “Save race” or --trace has written.',
  );
  useTextsOf('es');
  assert.equal(
    sentence(NO_RACE),
    'Esto no es una carrera de specviz: es una lista, no un objeto; ' +
      'usa un archivo escrito por «Guardar carrera» o por --trace.',
  );
  useEnglish();
});

test('names of fields, paths and models are not written with a capital', () => {
  const missing = { id: 'format.missing' };
  assert.equal(sentence({ id: 'format.at', path: 'schema_version', problem: missing }), 'schema_version is missing.');
  assert.equal(sentence({ id: 'format.at', path: 'lanes[1].spec', problem: missing }), 'lanes[1].spec is missing.');
  assert.equal(sentence('specviz-small cannot be loaded'), 'specviz-small cannot be loaded.');
  assert.equal(sentence('no such file'), 'No such file.');
  assert.equal(sentence('Is it? Try again.'), 'Is it? Try again.');
});

test('a race that was refused ends with that sentence, and others with the words as they are', () => {
  const status = (state, text) => narrate({ status: { state, text } });
  assert.equal(status('error', { id: 'refusal.no_words' }), 'The prompt is empty; write at least one word.');
  assert.equal(status('stopped', 'stopped by nobody'), 'stopped by nobody');
});

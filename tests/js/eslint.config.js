// The rules for assets/js and for the tests beside this file. `.ci/run` copies this file and package.json into a
// folder that is thrown away, and installs there what is imported here.
import js from '@eslint/js';
import globals from 'globals';

const RULES = {
  ...js.configs.recommended.rules,
  'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'all' }],
  'no-undef': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  eqeqeq: 'error',
  complexity: ['error', 13],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
};

export default [
  { files: ['assets/js/**/*.js'], languageOptions: { globals: globals.browser }, rules: RULES },
  // This one is written into the page's head, behind a line that declares the languages.
  { files: ['assets/js/early.js'], languageOptions: { sourceType: 'script', globals: { LANGUAGES: 'readonly' } } },
  { files: ['assets/js/export/loader.js'], languageOptions: { sourceType: 'script' } },
  { files: ['tests/js/**/*.js'], languageOptions: { globals: globals.node }, rules: RULES },
];

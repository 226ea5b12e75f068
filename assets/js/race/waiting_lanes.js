// The lanes of a panel before its first race.
import { t } from '../page/strings.js';

/** The texts are `waiting.KEY`, `waiting.KEY_about` and `waiting.KEY_hint`. */
const KEYS = { race: ['alone', 'guesses'], compare: ['alone', 'before', 'after'] };

/** What a lane is drawn with: `isBaseline`, `name`, `about`, and a `hint` in place of a text. */
export function waitingLanes(panel) {
  return KEYS[panel].map((key) => ({
    isBaseline: key === 'alone',
    name: t(`waiting.${key}`),
    about: t(`waiting.${key}_about`),
    hint: t(`waiting.${key}_hint`),
  }));
}

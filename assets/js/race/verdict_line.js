// What became of a prediction, told where the race was watched: the questions lie far above it.
import { make, setText, wrap } from '../page/dom.js';
import { t } from '../page/strings.js';

/** The texts and their lines, by the name of the panel. */
const lines = new Map();

/** The line of a panel's status strip; it is hidden as long as there is no verdict. */
export function verdictLine(panel) {
  return partsOf(panel).line;
}

/** Show a sentence in a panel's strip, or nothing. */
export function showVerdict(panel, sentence) {
  const { line, text } = partsOf(panel);
  setText(text, sentence);
  line.hidden = sentence === '';
}

function partsOf(panel) {
  if (!lines.has(panel)) {
    const text = make('span');
    const line = wrap('p', 'sv-verdict-line', make('b', '', t('predict.yours')), text);
    line.hidden = true;
    lines.set(panel, { line, text });
  }
  return lines.get(panel);
}

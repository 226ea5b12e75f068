// What the charts of a sweep call drafts and axes.
import { asText } from '../page/plotly_text.js';
import { t } from '../page/strings.js';

const LONGEST_NAME = 20;

/** A name that leaves a chart some room. */
export function shortName(name) {
  return asText(name.length > LONGEST_NAME ? `…${name.slice(1 - LONGEST_NAME)}` : name);
}

/** The title of an axis. */
export function title(name) {
  return { text: t(`sweep_page.axis_${name}`), standoff: 6 };
}

/** The draft that a chart shows: the chosen one, else the fastest. */
export function leaderOf(results, draft) {
  return results.leaders.find((leader) => leader.draft === draft) ?? results.leaders[0];
}

// Below the settings: what this page allows each visitor; the server holds everybody to it.
import { make, wrap } from '../page/dom.js';
import { plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** Draw the limits, folded up until somebody asks. */
export function mountLimits(container, limits) {
  const list = wrap('ul', '', ...limitLines(limits).map((line) => make('li', '', line)));
  container.append(wrap('details', 'sv-limits', make('summary', '', t('limits.title')), list));
}

/** One sentence for each limit; those that do not hold are left out. */
export function limitLines(limits) {
  const { prompt_chars: chars, prompt_tokens: tokens, visitor_starts: starts, address_races: near } = limits;
  const lines = [
    t('limits.prompt', { n: chars, chars: plain(chars) }),
    tokens === null ? null : t('limits.prompt_tokens', { n: tokens }),
    t('limits.race', { lanes: limits.lanes, tokens: limits.new_tokens, seconds: plain(limits.seconds) }),
    t('limits.visitor', { n: limits.visitor_races }),
    starts === null ? null : t('limits.starts', { n: starts }),
    t('limits.queue', { n: limits.queue_size, near }),
    limits.allows_fits ? null : t('limits.no_fits'),
  ];
  return lines.filter((line) => line !== null);
}

// What the catalogue knows of a pair: size, licence, access, what was published, and its story.
import { briefName } from '../model/names.js';
import { make } from '../page/dom.js';
import { compact, gigabytes, language, plain } from '../page/numbers.js';
import { t } from '../page/strings.js';

/** A pair as an entry of a list. */
export function nameOf({ target, draft, head }) {
  if (head) return t('hub.choice_head', { target: briefName(target), head: briefName(head) });
  return draft === null ? t('hub.choice_alone', { target: briefName(target) }) : t('hub.choice', { target: briefName(target), draft: briefName(draft) });
}

/** All that is known, as elements. */
export function factsOf(pair) {
  const story = make('p', 'sv-hub-story', pair.story[language] ?? pair.story.en);
  const list = make('dl', 'sv-hub-list');
  const facts = {
    size: [sizeOf(pair)],
    licence: [pair.licences.join(', ')],
    access: [t(pair.is_gated ? 'hub.gated' : 'hub.open')],
    published: pair.published.length ? pair.published.map(figureOf) : [t('hub.published_none')],
  };
  for (const [name, texts] of Object.entries(facts)) {
    list.append(make('dt', '', t(`hub.${name}`)), ...texts.map((text) => make('dd', '', text)));
  }
  const unchecked = pair.is_checked ? [] : [make('p', 'sv-hub-note', t('hub.unchecked'))];
  return [story, list, ...unchecked];
}

function sizeOf({ num_parameters: [target, draft], stored_bytes: bytes, head }) {
  const gb = gigabytes(bytes);
  // Of some heads nobody has counted the weights.
  if (head && draft === undefined) return t('hub.size_head', { target: compact(target), gb });
  if (draft === undefined) return t('hub.size_alone', { target: compact(target), gb });
  return t('hub.size_pair', { target: compact(target), draft: compact(draft), gb });
}

function figureOf({ figure, value, setting, source }) {
  return t(`hub.published_${figure}`, { value: plain(value), setting, source });
}

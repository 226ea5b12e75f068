// What there is to know about a race's texts: a prompt far from what the target has read, loops, a full context.
import { make, makeButton, wrap } from '../page/dom.js';
import { decimals, finePercent, percent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { WhySlower } from './why_slower.js';

/**
 * Draw them below a panel's strip, and the answer why a lane was slower. What may follow stands in `offers`:
 * `prompts`, the gallery’s by id, with `usePrompt(prompt)`, and `startLesson(id)`.
 */
export function mountNotes(container, { name, playback }, { prompts = {}, usePrompt = null, startLesson = null } = {}) {
  const notes = new Notes(prompts, usePrompt);
  const why = new WhySlower(`sv-slower-${name}`, startLesson);
  const spoken = wrap('div', 'sv-notes', notes.element, why.button);
  spoken.setAttribute('role', 'status');
  container.append(spoken, why.element);
  playback.follow((race) => {
    notes.show(race);
    why.show(race);
    spoken.hidden = notes.element.hidden && why.button.hidden;
  });
}

/** Draws one line for each thing to know. */
class Notes {
  #prompts;
  #usePrompt;
  /** Ids of the lines that stand there: they are drawn again only where there are others. */
  #shown = '';
  element = make('ul', '', '', { hidden: '', 'aria-label': t('notes.name') });

  constructor(prompts, usePrompt) {
    this.#prompts = prompts;
    this.#usePrompt = usePrompt;
  }

  /** Keep the lines up with a race. */
  show(race) {
    const familiarity = race.started?.familiarity ?? null;
    const isFar = familiarity !== null && familiarity.distance !== 'near';
    const ended = race.lanes.filter((lane) => lane.hasEnded);
    const full = ended.find((lane) => lane.stopReason === 'context');
    const looped = race.isOver ? tellingLoop(ended) : null;
    const shown = JSON.stringify([isFar && familiarity, full?.index, looped?.index]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const lines = [];
    if (isFar) lines.push(this.#far(familiarity));
    if (full) lines.push(line(aboutContext(race, full)));
    if (looped) lines.push(line(aboutLoop(looped.loop)));
    this.element.replaceChildren(...lines);
    this.element.hidden = lines.length === 0;
  }

  #far(familiarity) {
    const item = line(t(`reading.${familiarity.distance}`));
    const how = make('summary', '', t('reading.how'));
    item.append(wrap('details', 'sv-note-detail', how, make('p', '', aboutFamiliarity(familiarity))));
    const prompt = this.#prompts[familiarity.example];
    if (prompt === undefined || !this.#usePrompt) return item;
    const text = t('reading.try', { example: t(`prompt.${familiarity.example}`) });
    item.append(makeButton(text, () => this.#usePrompt(prompt), 'sv-link', { title: prompt }));
    return item;
  }
}

/** The lane whose loop is told: one that guesses, where there is one. */
function tellingLoop(lanes) {
  const looped = lanes.filter((lane) => lane.loop);
  return looped.find((lane) => lane.loop.alpha_inside !== null) ?? looped[0] ?? null;
}

/** How a prompt stands to the texts that it was compared with. */
export function aboutFamiliarity({ log_prob: own, usual_log_prob: usual, share_below: share, ...counts }) {
  return t('reading.compared', {
    own: decimals(own, 1),
    usual: decimals(usual, 1),
    share: share === 0 ? t('reading.almost_none') : finePercent(share),
    texts: counts.num_texts,
    n: counts.num_tokens,
  });
}

/** Where a text repeats itself, and what that does to the share of guesses that are kept. */
export function aboutLoop({ loop, ...alphas }) {
  const { alpha_before: before, alpha_inside: inside } = alphas;
  const values = { start: loop.start + 1, period: loop.period, n: loop.num_tokens };
  if (inside === null) return t('loop.plain', values);
  const judged = { in_loop: percent(inside), judged_inside: alphas.num_judged_inside };
  if (before === null) return t('loop.all', { ...values, ...judged });
  const rates = { ...judged, before: percent(before), judged_before: alphas.num_judged_before };
  return t(inside > before ? 'loop.inflates' : 'loop.both', { ...values, ...rates });
}

function aboutContext({ started: { request } }, lane) {
  const prompt = request.prompt_ids.length;
  const written = lane.numEmitted;
  return t('notes.context', { most: prompt + written, prompt, written, asked: request.max_new_tokens });
}

function line(text) {
  return wrap('li', '', make('span', '', text));
}

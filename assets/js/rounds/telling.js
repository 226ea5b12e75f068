// What a round is told in words: the text so far, the three stages, the sentence for each, where its time
// went, and the question of "guess first".
import { isPointMass } from '../evidence/decision.js';
import { drawStep } from '../evidence/wrong_step.js';
import { isRight } from '../model/names.js';
import { wrongSteps } from '../model/wrong_steps.js';
import { tellNoStep } from '../model/wrong_words.js';
import { make, makeButton, setText, visible, wrap } from '../page/dom.js';
import { decimals, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { STAGES } from './beats.js';
import { redrawn } from './cursor.js';
import { tellRound } from './story.js';

const NUM_WORDS = 25;
const LONGEST_TAIL = 400;
const SPOKEN_EVERY_MS = 4000;

/** Make context, stages and story of the open round; the voice follows a live race every few seconds. */
export function makeTelling(cursor, player) {
  const prompt = make('span', 'sv-so-far-prompt');
  const output = make('span');
  const caret = make('span', 'sv-so-far-cursor', '▏', { 'aria-hidden': 'true' });
  const label = make('span', 'sv-so-far-label', t('rounds.so_far'));
  const soFar = wrap('p', 'sv-so-far', label, prompt, output, caret);
  const stages = STAGES.map((name, stage) => {
    const goTo = () => {
      player.stop();
      cursor.toBeat(cursor.beats.ends[stage]);
    };
    const button = makeButton('', goTo, 'sv-round-stage');
    const about = make('span', 'sv-round-stage-about', t(`rounds.about_${name}`));
    button.append(make('b', '', String(stage + 1)), make('span', '', t(`rounds.stage_${name}`)), about);
    return button;
  });
  const row = make('div', 'sv-round-stages', '', { role: 'group', 'aria-label': t('rounds.stages') });
  row.append(...stages);
  const story = make('p', 'sv-round-story');
  const spoken = make('p', 'sv-spoken', '', { 'aria-live': 'polite' });
  let spokenAt = -SPOKEN_EVERY_MS;

  const update = (isLive) => {
    const { beats, beat, race, lane, round } = cursor;
    const before = lastWords(race.started.request.prompt, lane.text.slice(0, round.textBefore));
    setText(prompt, before.prompt);
    setText(output, before.output);
    stages.forEach((button, stage) => {
      button.setAttribute('aria-pressed', String(stage === beats.stageOf(beat)));
      button.classList.toggle('is-past', stage < beats.stageOf(beat));
    });
    setText(story, tellRound(cursor));
    const now = performance.now();
    if (player.isPlaying && beat < beats.last) return;
    if (isLive && now - spokenAt < SPOKEN_EVERY_MS) return;
    spokenAt = now;
    setText(spoken, story.textContent);
  };
  return { element: wrap('div', 'sv-round-telling', soFar, row, story, spoken), update };
}

/** The last words before a round, the prompt's and the output's apart. */
function lastWords(prompt, written) {
  const all = prompt + written;
  // The parts are a word, a space, a word, …
  const kept = all.slice(-LONGEST_TAIL).split(/(\s+)/).slice(-2 * NUM_WORDS).join('');
  const split = Math.max(0, kept.length - written.length);
  const onOneLine = (text) => text.replaceAll('\n', '⏎ ');
  const start = kept.length < all.length ? '…' : '';
  return { prompt: start + onOneLine(kept.slice(0, split)), output: onOneLine(kept.slice(split)) };
}

/** Make what a wrong rule did in the round, step by step beside what the right one does; empty for a right lane. */
export function makeWrongSteps(cursor) {
  const placeOf = () => ({ lane: cursor.lane, round: cursor.round, isGreedy: cursor.race.isGreedy });
  const factsOf = () => {
    const { round, lane, beats, beat } = cursor;
    if (isRight(lane.spec)) return [null, 0, false];
    // What went wrong is told once that stage is over.
    const numTold = wrongSteps(placeOf()).filter(({ stage }) => beat >= beats.ends[stage]).length;
    return [round, numTold, beat >= beats.last];
  };
  const part = redrawn('sv-round-wrong', factsOf, (round, numTold, isOver) => {
    if (round === null) return [];
    const steps = wrongSteps(placeOf()).slice(0, numTold);
    const none = isOver && !steps.length ? [make('p', 'sv-evidence-note', tellNoStep(placeOf()))] : [];
    if (!steps.length && !none.length) return [];
    return [make('h2', '', t('wrong.title')), ...none, ...steps.map(drawStep)];
  });
  const update = () => {
    part.update();
    part.element.hidden = !part.element.childElementCount;
  };
  return { element: part.element, update };
}

/** Make the strips of where a round's time went: its own, and the plain steps for the same positions. */
export function makeTimes(cursor) {
  const factsOf = () => {
    const { round, beats, beat, race } = cursor;
    const alone = plainSteps(race, round);
    const isTold = beat >= beats.last && alone.length > 0;
    return [round, beat >= beats.ends[1], isTold, cursor.isOpen(), alone.length];
  };
  return redrawn('sv-round-times', factsOf, (round, isChecked, isTold, isOpen, n) => {
    const alone = plainSteps(cursor.race, round);
    const aloneMs = alone.reduce((total, step) => total + step.ms, 0);
    // While fates are hidden, so is how many positions the round gained.
    const scale = isOpen ? round.ms : Math.max(round.ms, aloneMs);
    const kinds = isChecked ? ['draft', 'verify', 'other'] : ['draft'];
    const own = kinds.map((kind) => ({ kind, ms: round.times[kind], name: t(`rounds.part_${kind}`) }));
    const strips = [strip(t('rounds.this_round'), own, scale, sumOf(round, isChecked))];
    if (isTold) {
      const steps = alone.map(({ ms }) => ({ kind: 'verify', ms, name: '' }));
      const sum = t('rounds.alone_ms', { n, ms: decimals(aloneMs, 1) });
      strips.push(strip(t('rounds.alone', { n }), steps, scale, sum));
      if (n === round.written.length) strips.push(winner(round.ms, aloneMs, n));
    }
    return strips;
  });
}

/** The plain steps that wrote the same positions of the output as a round; fewer in mid-race. */
function plainSteps({ baseline }, { written, facts }) {
  return baseline?.rounds.slice(facts.position, facts.position + written.length) ?? [];
}

/** Which way was faster for the places of a round. */
function winner(ms, aloneMs, n) {
  const times = decimals(Math.max(ms, aloneMs) / Math.min(ms, aloneMs), 2);
  const how = times === decimals(1, 2) ? 'even' : ms < aloneMs ? 'won' : 'lost';
  return make('p', `sv-round-winner is-${how}`, t(`rounds.${how}`, { n, times }));
}

function sumOf({ times, ms }, isChecked) {
  if (!isChecked) return t('rounds.drafting_ms', { ms: decimals(times.draft, 1) });
  const tenths = (each) => Math.round(10 * each) / 10;
  const [draft, verify, total] = [times.draft, times.verify, ms].map(tenths);
  // The rest takes up what rounding left over, so that the sum that is shown adds up.
  const parts = [draft, verify, Math.max(0, total - draft - verify), total].map((each) => decimals(each, 1));
  return t('rounds.round_ms', { draft: parts[0], verify: parts[1], other: parts[2], ms: parts[3] });
}

function strip(label, blocks, scale, text) {
  const track = make('div', 'sv-time-track', '', { 'aria-hidden': 'true' });
  for (const { kind, ms, name } of blocks) {
    const block = make('span', `sv-time-block sv-time-${kind}`, name);
    block.style.width = `${(100 * ms) / scale}%`;
    track.append(block);
  }
  const [before, after] = [make('span', 'sv-time-label', label), make('span', 'sv-time-text', text)];
  return wrap('div', 'sv-time-row', before, track, after);
}

/** Make the question of "guess first": kept or thrown away? With the last answer, and the score. */
export function makeQuestion(cursor) {
  const question = make('p', 'sv-ask-question');
  const answer = make('p', 'sv-ask-answer', '', { 'aria-live': 'polite' });
  const score = make('p', 'sv-ask-score');
  const kept = makeButton(t('rounds.say_kept'), () => cursor.guess(true));
  const thrown = makeButton(t('rounds.say_thrown'), () => cursor.guess(false));
  const next = makeButton(t('rounds.next'), () => {
    cursor.to(cursor.index + 1);
    kept.focus({ preventScroll: true });
  });
  const element = make('section', 'sv-round-ask', '', { 'aria-label': t('rounds.guess_first') });
  element.append(answer, question, wrap('div', 'sv-ask-buttons', kept, thrown, next), score);

  const update = () => {
    element.hidden = !cursor.isGuessing;
    if (element.hidden) return;
    const { round, index, rounds, numRight, numGuessed } = cursor;
    const isOpen = cursor.isOpen();
    const focused = [kept, thrown, next].find((button) => button === document.activeElement);
    kept.hidden = thrown.hidden = !isOpen;
    next.hidden = isOpen || index >= rounds.length - 1;
    setText(question, isOpen ? questionOn(round.tokens[cursor.asked]) : '');
    setText(answer, answerOn(cursor));
    element.dataset.right = String(cursor.lastGuess?.isRight ?? false);
    setText(score, numGuessed ? t('rounds.score', { right: numRight, n: numGuessed }) : '');
    // A button that goes away must not take the keyboard with it.
    if (focused?.hidden) (isOpen ? kept : next).focus({ preventScroll: true });
  };
  return { element, update };
}

function questionOn(token) {
  const [q, p] = [token.draft_prob, token.target_prob].map(finePercent);
  return t(isPointMass(token) ? 'rounds.ask_point' : 'rounds.ask', { token: visible(token.text), q, p });
}

function answerOn({ lastGuess, round }) {
  if (lastGuess?.round !== round) return '';
  const { text, fate, draw, accept_prob: accept } = lastGuess.token;
  const verdict = lastGuess.isRight ? 'right' : 'wrong';
  const outcome = fate.name === 'accepted' ? 'kept' : 'thrown';
  const told = t(`rounds.answer_${verdict}_${outcome}`, { token: visible(text) });
  return draw === null ? told : `${told} ${t('rounds.had_chance', { chance: finePercent(accept) })}`;
}

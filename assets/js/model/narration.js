// The one line that says what a race is doing, from the race itself.
import { secondHalf } from './finish.js';
import { isRight, laneName } from './names.js';
import { wrongSteps } from './wrong_steps.js';
import { tellStep } from './wrong_words.js';
import { decimals, gigabytes, plain } from '../page/numbers.js';
import { sentence, t, translate } from '../page/strings.js';

/** Say what a race does now, or how it ended; a word of the server comes first. */
export function narrate(race) {
  const { state, text } = race.status;
  if (text !== undefined) return state === 'error' ? sentence(text) : translate(text);
  if (race.isDownloading) return tellDownload(race.loading);
  if (state === 'loading') return tellLoading(race.loading);
  if (state === 'running') return race.latest ? tellSecondHalf(race) ?? tellRound(race) : t('round.prompt_read');
  return state === 'finished' ? tellEnd(race) : '';
}

function tellLoading(loading) {
  return loading ? t('status.loading_model', loading) : t('status.loading_models');
}

function tellDownload({ model, number, count, done_bytes: done, total_bytes: total }) {
  const values = { model, number, count };
  if (total === 0) return t('status.download_begins', values);
  return t('status.download', { ...values, done: gigabytes(done, total), total: gigabytes(total) });
}

/** Once all that guess are done, the target alone still writes. */
function tellSecondHalf(race) {
  const half = secondHalf(race);
  const isAlone = half && race.drafting.every((lane) => lane.hasEnded);
  return isAlone ? t('round.alone', { seconds: half.seconds, n: half.n }) : null;
}

function tellRound({ latest: { lane, round }, lanes, isGreedy }) {
  let number = plain(round.number);
  if (lanes.length > 2) number = t('round.of_lane', { round: number, lane: laneName(lane) });
  const guesses = round.facts.drafted.length;
  if (!guesses) return t('round.plain', { round: number });
  const fates = round.tokens.map((token) => token.fate.name);
  const end = ['correction', 'bonus'].find((fate) => fates.includes(fate)) ?? 'kept';
  const values = { round: number, n: guesses, kept: round.numKept };
  if (round.isTree) return t(`round.tree_${end}`, { ...values, levels: round.tree.numLevels });
  const wrong = wrongSteps({ lane, round, isGreedy }).map((step) => tellStep(step, 'short'));
  return [t(`round.${end}`, values), ...wrong].join(' ');
}

function tellEnd(race) {
  const wrong = race.drafting.every(({ spec }) => isRight(spec)) ? [] : [t('closing.wrong')];
  return [tellSpeedups(race), ...wrong].join(' ');
}

function tellSpeedups(race) {
  const lanes = race.drafting.filter((lane) => lane.speedup !== null);
  if (!lanes.length) return t('closing.nothing');
  const told = lanes.map((lane) =>
    t('closing.lane', { lane: laneName(lane), speedup: decimals(lane.speedup, 2) }),
  );
  if (told.length > 1) return t('closing.several', { lanes: told.join(', ') });
  const [lane] = lanes;
  const name = lane.isSlower ? 'slower' : 'faster';
  return t(`closing.${name}`, { speedup: decimals(lane.speedup, 2) });
}

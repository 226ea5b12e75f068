// What the lessons say with the numbers of a real race; null where those are not known.
import { t } from '../core/strings.js';

/** Gigabytes a second that memory moves at least, of a processor and of what accelerates it. */
const USUAL_RATE = { cpu: 10, other: 100 };

/** Where the numbers come from. */
export function sourceOf(facts) {
  return t(`lesson.source_${facts.source}`, { place: facts.measured.place });
}

/** Size, time and rate of one pass, as texts; null where they are not known. */
export function passNumbers(facts) {
  const rate = facts.gigabytesASecond;
  if (!rate) return null;
  return {
    count: (facts.numParameters / 1e6).toFixed(1),
    size: facts.megabytes.toFixed(1),
    step: facts.measured.step_ms.toFixed(1),
    rate: rate.toFixed(1),
  };
}

/** Whether reading the weights or something else takes the time of a pass. */
export function boundOf(facts) {
  const usual = USUAL_RATE[facts.measured.device] ?? USUAL_RATE.other;
  const isSlow = facts.gigabytesASecond < usual;
  return isSlow ? t('lesson.note_overhead', { usual }) : t('lesson.note_fast');
}

export const NOTES = {
  pass: (facts) => {
    const numbers = passNumbers(facts);
    if (!numbers) return null;
    return [t('lesson.note_pass', numbers), boundOf(facts), sourceOf(facts)];
  },
  check: (facts) => {
    const { lane, measured } = facts;
    if (!lane) return null;
    const numbers = {
      step: measured.step_ms.toFixed(1),
      gamma: lane.gamma,
      verify: lane.verify_ms.toFixed(1),
      v: lane.verify_cost.toFixed(2),
    };
    return [t('lesson.note_check', numbers), sourceOf(facts)];
  },
  run: (facts) => facts.measured && facts.measured.lanes.filter(isCounted).map(laneNote),
};

function isCounted(lane) {
  return lane.alpha !== null && lane.draft_cost !== null && lane.speedup !== null;
}

function laneNote(lane) {
  return t('lesson.note_run', {
    name: lane.name,
    alpha: lane.alpha.toFixed(2),
    c: lane.draft_cost.toFixed(2),
    v: lane.verify_cost.toFixed(2),
    speedup: lane.speedup.toFixed(2),
  });
}

// A fit as the page has it: the news of the server, folded into what is known so far.

/**
 * @typedef {{ seconds: number, step: number, alpha: number, isBest: boolean }} Point
 * @typedef {{ phase: string | null, done: number, total: number | null, secondsLeft: number | null,
 *   loss: number | null, numLearned: number, numHeldOut: number, isFew: boolean, numLeftOut: number,
 *   points: Point[], end: { why: string, step: number, bestStep: number } | null,
 *   gain: { before: number, after: number } | null, made: any }} FitState
 */

/** What is known before the first news. @returns {FitState} */
export function noNews() {
  return {
    phase: null,
    done: 0,
    total: null,
    secondsLeft: null,
    loss: null,
    numLearned: 0,
    numHeldOut: 0,
    isFew: false,
    numLeftOut: 0,
    points: [],
    end: null,
    gain: null,
    made: null,
  };
}

/** What is known after one more piece of news. @returns {FitState} */
export function withNews(fit, item) {
  return { ...fit, ...readers[item.kind](item, fit) };
}

/** The point with the highest α, the first of them; null before any. */
export function bestOf({ points }) {
  return points.reduce((best, point) => (best === null || point.alpha > best.alpha ? point : best), null);
}

const readers = {
  begun: (item) => ({ numLearned: item.num_learned, numHeldOut: item.num_held_out, isFew: item.is_few }),
  left_out: (item) => ({ numLeftOut: item.number }),
  progress: (item, fit) => ({
    phase: item.phase,
    done: item.done,
    total: item.total,
    secondsLeft: item.seconds_left ?? fit.secondsLeft,
    loss: item.loss ?? fit.loss,
  }),
  measured: ({ seconds, step, alpha, is_best: isBest }, fit) => ({
    points: [...fit.points, { seconds, step, alpha, isBest }],
  }),
  ended: (item) => ({ end: { why: item.end, step: item.step, bestStep: item.best_step } }),
  no_help: ({ before, after }) => ({ gain: { before, after } }),
  done: ({ draft, pair }) => ({
    gain: { before: draft.fit.before.alpha, after: draft.fit.after.alpha },
    made: { draft, pair },
  }),
};

// Right and judged predictions of this visit; they outlive a reload, and end with the visit.
import { VISIT, remember, remembered } from '../core/memory.js';

const KEY = 'specviz-predictions';

export class Score {
  right = 0;
  votes = 0;

  constructor() {
    try {
      const { right, votes } = JSON.parse(remembered(KEY, VISIT)) ?? {};
      if (Number.isInteger(right) && right <= votes) Object.assign(this, { right, votes });
    } catch {
      // Somebody may have written other things there.
    }
  }

  /** Count the votes of one race. */
  add(right, votes) {
    this.right += right;
    this.votes += votes;
    remember(KEY, JSON.stringify({ right: this.right, votes: this.votes }), VISIT);
  }
}

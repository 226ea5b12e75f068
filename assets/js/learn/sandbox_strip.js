// The arithmetic of one round as two strips of blocks: the same tokens alone and with guesses.
import { make, setText } from '../core/dom.js';
import { announce } from './sandbox_news.js';
import { Slider, makeButton, makeLab, twoDigits } from './sandbox_parts.js';
import { t } from '../core/strings.js';

/** One of our sources counts "600 ms for three tokens alone, 250 ms with speculation". */
const FIRST = { pass: 200, draft: 25, check: 1, guesses: 2, kept: 2 };
const SPANS = {
  pass: { min: 1, max: 400, step: 0.1, format: ms },
  draft: { min: 0, max: 200, step: 0.1, format: ms },
  check: { min: 0.5, max: 3, step: 0.01, format: twoDigits },
  guesses: { min: 1, max: 16, step: 1 },
  kept: { min: 0, max: 16, step: 1 },
};
/** A block that takes less of the row than this carries no number. */
const SMALLEST_SHARE = 1 / 12;

/** Draw the strip; `facts` know the times of a real race. */
export function makeStrip(facts) {
  return new Strip(facts).element;
}

class Strip {
  #facts;
  #sliders = {};
  #alone = make('div', 'sv-strip-row', '', { 'aria-hidden': 'true' });
  #together = make('div', 'sv-strip-row', '', { 'aria-hidden': 'true' });
  #aloneSum = make('span', 'sv-strip-sum');
  #togetherSum = make('span', 'sv-strip-sum');
  #told = make('p', 'sv-strip-told', '', { role: 'status' });
  #note = make('p', 'sv-source');

  constructor(facts) {
    this.#facts = facts;
    this.element = makeLab('strip');
    const sliders = make('div', 'sv-sliders');
    for (const [name, span] of Object.entries(SPANS)) {
      this.#sliders[name] = new Slider(t(`learn.strip_${name}`), span, () => this.#moved());
      sliders.append(this.#sliders[name].element);
    }
    const row = make('div', 'sv-lab-buttons');
    const own = makeButton(t('learn.strip_own'), () => this.#own());
    row.append(own, makeButton(t('learn.strip_reset'), () => this.#reset()));
    const line = (name, sum, blocks) => {
      const box = make('div', 'sv-strip-line');
      box.append(make('b', '', t(`learn.strip_${name}`)), sum, blocks);
      return box;
    };
    this.element.append(
      line('alone', this.#aloneSum, this.#alone),
      line('together', this.#togetherSum, this.#together),
      this.#told,
      sliders,
      row,
      this.#note,
    );
    this.#reset();
    facts.subscribe(() => {
      own.disabled = !facts.lane;
    });
  }

  #reset() {
    this.#take(FIRST, '');
  }

  #own() {
    const { lane, measured } = this.#facts;
    const kept = lane.tau - 1;
    const values = {
      pass: measured.step_ms,
      draft: lane.draft_ms,
      check: lane.verify_cost,
      guesses: lane.gamma,
      kept: Math.round(kept),
    };
    const about = { name: lane.name, place: measured.place, kept: kept.toFixed(1) };
    this.#take(values, t('learn.strip_own_note', about));
    announce('strip', { isOwn: true, isSlower: false });
  }

  #take(values, note) {
    this.#sliders.kept.setMax(values.guesses);
    for (const [name, value] of Object.entries(values)) this.#sliders[name].set(value);
    setText(this.#note, note);
    this.#draw();
  }

  #moved() {
    this.#sliders.kept.setMax(this.#sliders.guesses.value);
    const { alone, together } = this.#draw();
    announce('strip', { isSlower: together > alone, isOwn: false });
  }

  #draw() {
    const [pass, draft, check, guesses, kept] = Object.keys(SPANS).map(
      (name) => this.#sliders[name].value,
    );
    const tokens = kept + 1;
    const alone = tokens * pass;
    const together = guesses * draft + check * pass;
    const sums = { tokens, guesses, pass: ms(pass), draft: ms(draft), check: ms(check * pass) };
    setText(this.#aloneSum, t('learn.strip_alone_sum', { ...sums, total: ms(alone) }));
    setText(this.#togetherSum, t('learn.strip_together_sum', { ...sums, total: ms(together) }));
    const longest = Math.max(alone, together);
    fill(this.#alone, Array(tokens).fill(['target', pass]), longest);
    const drafts = Array(guesses).fill(['draft', draft]);
    fill(this.#together, [...drafts, ['target', check * pass]], longest);
    this.#tell(alone / together, tokens);
    return { alone, together };
  }

  #tell(speedup, tokens) {
    const shown = { tokens, speedup: speedup.toFixed(2) };
    const name = speedup > 1 ? 'faster' : 'slower';
    setText(this.#told, t(`learn.strip_${speedup === 1 ? 'even' : name}`, shown));
    this.#told.dataset.result = name;
  }
}

/** Milliseconds with the digits they deserve. */
function ms(value) {
  return String(Number(value.toFixed(value < 100 ? 1 : 0)));
}

function fill(row, blocks, longest) {
  row.replaceChildren(
    ...blocks.map(([who, time]) => {
      const block = make('span', `sv-block is-${who}`, time > longest * SMALLEST_SHARE ? ms(time) : '');
      block.style.width = `${(100 * time) / longest}%`;
      return block;
    }),
  );
}

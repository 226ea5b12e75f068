// A round's tree, drawn: tokens by fate, edges by the draft's probability, and the way that was kept.
import { hasCoin } from '../model/coins.js';
import { make, visible, wrap } from '../page/dom.js';
import { chance, finePercent } from '../page/numbers.js';
import { t } from '../page/strings.js';
import { draftProbOf } from './decision.js';
import { LARGE, SMALL, layOut } from './tree_layout.js';

const SVG = 'http://www.w3.org/2000/svg';
const PX_IN_REM = 16;
/** Widths of edges that the draft was sure of and not, in px; one of which nobody knows lies between. */
const THICKEST = 5;
const THINNEST = 0.75;
const UNKNOWN = 1.5;
/** Room around a token that is brought into sight, in px. */
const AROUND = 48;

/**
 * @typedef {{ element: HTMLElement, box: import('./tree_layout.js').Box, edges: SVGPathElement[], told: string }} Node
 */

/**
 * A tree that scrolls in its own box, of which one token is chosen by pointer or by arrows. It is drawn
 * once a round, and then shows what is known of each token.
 */
export class TreeView {
  #sizes;
  #choose;
  #round = null;
  #chosen = 0;
  #plane = make('div', 'sv-tree', '', { role: 'tree' });
  /** @type {Node[]} */
  #nodes = [];
  /** Whether the keyboard was in the tree that another one replaces. */
  #hadFocus = false;

  /** `choose(index)` is called when the visitor turns to a token, which then has to be shown as chosen. */
  constructor(choose, isSmall = false) {
    this.#choose = choose;
    this.#sizes = isSmall ? SMALL : LARGE;
    this.element = wrap('div', `sv-tree-box${isSmall ? ' is-small' : ''}`, this.#plane);
    this.#plane.addEventListener('click', (event) => {
      const index = this.#indexOf(event.target);
      if (index >= 0) this.#turnTo(index);
    });
    this.#plane.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Whether this is the round that is drawn. */
  has(round) {
    return round === this.#round;
  }

  /** Draw a round; `show` says what of it may be seen. */
  draw(round) {
    const hadFocus = this.#plane.contains(document.activeElement);
    this.#round = round;
    const { tokens, tree } = round;
    const plan = layOut(tree, tokens.map(({ text }) => visible(text).length), this.#sizes);
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('aria-hidden', 'true');
    svg.setAttribute('viewBox', `0 0 ${plan.width} ${plan.height}`);
    const onPath = new Set([...tree.path, ...tree.added]);
    const bands = tokens.map((_, index) => (onPath.has(index) ? pathOf('sv-tree-band', plan.edges[index]) : null));
    const edges = tokens.map((token, index) => {
      const edge = pathOf('sv-tree-edge', plan.edges[index]);
      edge.setAttribute('stroke-width', String(thicknessOf(token)));
      return edge;
    });
    svg.append(...bands.filter(Boolean), ...edges);
    this.#nodes = tokens.map((token, index) => ({
      element: this.#node(token, index, plan.boxes[index]),
      box: plan.boxes[index],
      edges: [bands[index], edges[index]].filter(Boolean),
      told: '',
    }));
    const root = make('span', 'sv-tree-root', '…', { 'aria-hidden': 'true' });
    root.style.top = rem(plan.rootY);
    Object.assign(this.#plane.style, { width: rem(plan.width), height: rem(plan.height) });
    this.element.style.setProperty('--sv-tree-height', rem(plan.height));
    this.#plane.replaceChildren(svg, root, ...this.#nodes.map(({ element }) => element));
    this.#plane.setAttribute('aria-label', t('tree.label', { n: tree.numGuesses, levels: tree.numLevels }));
    // Whoever walked a tree walks on in the next one.
    this.#chosen = -1;
    this.#hadFocus = hadFocus;
  }

  /** Show what is known of each token, and which one is chosen; another one than before comes into sight. */
  show(knownOf, chosen) {
    this.#nodes.forEach((node, index) => this.#showNode(node, index, knownOf(index), index === chosen));
    const isOther = chosen !== this.#chosen;
    this.#chosen = chosen;
    if (isOther) this.reveal();
    if (this.#hadFocus) this.focus();
    this.#hadFocus = false;
  }

  /** Bring the chosen token into sight, as far as the box itself scrolls. */
  reveal() {
    const [{ x, y, width }, box] = [this.#nodes[this.#chosen].box, this.element];
    // The page's text may be larger than usual. Not scrollIntoView: that would move the whole page as well.
    const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / PX_IN_REM;
    const { height } = this.#sizes;
    box.scrollLeft = within(box.scrollLeft, box.clientWidth, x * scale, (x + width) * scale);
    box.scrollTop = within(box.scrollTop, box.clientHeight, y * scale, (y + height) * scale);
  }

  /** Put the keyboard on the chosen token. */
  focus() {
    this.#nodes[this.#chosen]?.element.focus({ preventScroll: true });
  }

  #node(token, index, { x, y, width }) {
    const { tree } = this.#round;
    const siblings = tree.siblingsOf(index);
    const element = make('div', 'sv-tree-node', '', {
      role: 'treeitem',
      'aria-level': tree.levels[index],
      'aria-posinset': siblings.indexOf(index) + 1,
      'aria-setsize': siblings.length,
    });
    Object.assign(element.style, { left: rem(x), top: rem(y), width: rem(width), height: rem(this.#sizes.height) });
    const sample = make('span', 'sv-tok', visible(token.text));
    sample.dataset.mark = token.fate.mark;
    element.title = visible(token.text);
    element.append(sample);
    if (this.#sizes === LARGE) element.append(factsOf(token));
    return element;
  }

  #showNode(node, index, known, isChosen) {
    const token = this.#round.tokens[index];
    const { element, edges } = node;
    const told = `${known} ${isChosen}`;
    if (told === node.told) return;
    node.told = told;
    const fate = known === 'decided' ? token.fate.name : 'undecided';
    for (const part of [element, ...edges]) Object.assign(part.dataset, { known, fate });
    element.firstElementChild.className = `sv-tok sv-${fate}`;
    element.setAttribute('aria-selected', String(isChosen));
    element.tabIndex = isChosen ? 0 : -1;
    element.setAttribute('aria-label', this.#nameOf(token, index, known));
  }

  /** A token in words, as far as it is known. */
  #nameOf(token, index, known) {
    const { tree } = this.#round;
    const parts = [visible(token.text)];
    const siblings = tree.siblingsOf(index).filter((each) => this.#round.tokens[each].fate.isGuess);
    if (token.fate.isGuess) {
      parts.push(t('tree.turn', { turn: siblings.indexOf(index) + 1, n: siblings.length }));
      const q = draftProbOf(token);
      if (q !== null) parts.push(t('tree.draft', { q: finePercent(q) }));
      const isChecked = known === 'checked' || known === 'decided';
      if (isChecked && token.fate.isJudged) parts.push(t('tree.target', { p: finePercent(token.target_prob) }));
      if (known === 'decided' && hasCoin(token)) parts.push(coinText(token));
    }
    if (known === 'decided') parts.push(t(`fate.${token.fate.name}`));
    return parts.join(', ');
  }

  #indexOf(target) {
    const element = target.closest?.('.sv-tree-node');
    return this.#nodes.findIndex((node) => node.element === element);
  }

  #isShown(index) {
    return this.#nodes[index].element.dataset.known !== 'nothing';
  }

  #turnTo(index) {
    this.#choose(index);
    this.focus();
  }

  #key(event) {
    const { key } = event;
    const index = this.#indexOf(event.target);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const isPress = key === 'Enter' || key === ' ';
    const next = isPress ? index : this.#round.tree.step(index, key, (each) => this.#isShown(each));
    if (next === null) return;
    this.#turnTo(next);
    event.preventDefault();
  }
}

/** Where in the tree a token stands. */
export function placeInTree(token, { tokens, tree }) {
  const index = tokens.indexOf(token);
  const siblings = tree.siblingsOf(index).filter((each) => tokens[each].fate.isGuess);
  const values = { level: tree.levels[index], levels: tree.numLevels, turn: siblings.indexOf(index) + 1, n: siblings.length };
  return t(token.fate.isGuess ? 'tree.place' : 'tree.place_added', values);
}

/** What stands at the edge that leads to a token: how probable it was, and the coin. */
function factsOf(token) {
  const facts = make('span', 'sv-tree-facts', '', { 'aria-hidden': 'true' });
  const [q, p] = [draftProbOf(token), token.target_prob ?? null];
  const odds = make('span', 'sv-tree-odds');
  if (q !== null && token.fate.isGuess) odds.append(make('span', 'sv-tree-q', `q ${finePercent(q)}`));
  if (p !== null && token.fate.isJudged) odds.append(make('span', 'sv-tree-p', `p ${finePercent(p)}`));
  facts.append(odds);
  if (hasCoin(token)) facts.append(make('span', 'sv-tree-coin', coinText(token)));
  return facts;
}

/** How a coin fell against the chance that it decided on. */
function coinText({ draw, accept_prob: accept }) {
  const values = { coin: chance(draw), chance: chance(accept) };
  return t(draw < accept ? 'tree.coin_below' : 'tree.coin_above', values);
}

/** How thick the edge to a token is: by the draft's probability; what the target added has none. */
function thicknessOf(token) {
  const q = token.fate.isGuess ? draftProbOf(token) : null;
  if (q === null) return UNKNOWN;
  return THINNEST + q * (THICKEST - THINNEST);
}

function pathOf(className, shape) {
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('class', className);
  path.setAttribute('d', shape);
  return path;
}

/** Where to scroll to, from where one is, so that what lies from `low` to `high` is in sight. */
function within(at, room, low, high) {
  const [least, most] = [high + AROUND - room, low - AROUND];
  return Math.max(Math.min(at, Math.max(most, 0)), Math.min(least, most));
}

function rem(px) {
  return `${px / PX_IN_REM}rem`;
}

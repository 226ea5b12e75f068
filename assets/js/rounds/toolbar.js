// The head of Round by round: which lane, how to move, and where one stands among its rounds.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { aboutLane, aboutRecording, aboutSampling, laneName } from '../model/names.js';
import { panels } from '../model/panels.js';
import { t } from '../page/strings.js';

const SPEEDS = [0.5, 1, 2, 4];

/** Make lane, buttons, speed and slider, kept in step with the cursor; `makeLive` as in `mountRounds`. */
export function makeToolbar(cursor, player, makeLive) {
  const lanes = makeLaneSelect(cursor);
  const about = make('p', 'sv-round-about');
  const badge = make('span', 'sv-badge sv-round-recorded', t('status.recorded'));
  const back = stepButton('◀', 'rounds.previous', () => cursor.to(cursor.index - 1));
  const play = makeButton('', () => player.toggle(), 'sv-button sv-round-play');
  const next = stepButton('▶', 'rounds.next', () => cursor.to(cursor.index + 1));
  const slider = make('input', 'sv-round-slider', '', { type: 'range', min: 1 });
  slider.setAttribute('aria-label', t('rounds.slider'));
  slider.addEventListener('input', () => cursor.to(Number(slider.value) - 1));
  const position = make('output', 'sv-round-place');

  const update = () => {
    const { rounds, index, panel, lane, race } = cursor;
    lanes.update();
    badge.hidden = panel.playback.recording === null;
    const origin = badge.hidden ? aboutLane(lane.spec) : aboutRecording(race.started);
    setText(about, t('rounds.about', { about: origin, law: aboutSampling(race.started.request.sampling) }));
    slider.max = rounds.length;
    slider.value = index + 1;
    setText(position, t('rounds.place', { round: index + 1, rounds: rounds.length }));
    slider.setAttribute('aria-valuetext', position.textContent);
    setEnabled(back, index > 0);
    setEnabled(next, index < rounds.length - 1);
    setText(play, t(player.isPlaying ? 'rounds.pause' : 'rounds.play'));
  };

  const live = makeLive ? [makeLive(() => cursor.race)] : [];
  const head = wrap('div', 'sv-round-head', lanes.element, badge, about, ...live, guessSwitch(cursor));
  const buttons = wrap('div', 'sv-round-buttons', back, play, next, speedSelect(player));
  const row = wrap('div', 'sv-round-moves', buttons, slider, position);
  return { element: wrap('div', 'sv-round-toolbar', head, row), update };
}

function stepButton(text, titleId, act) {
  return makeButton(text, act, 'sv-button', { title: t(titleId), 'aria-label': t(titleId) });
}

function guessSwitch(cursor) {
  const box = make('input', '', '', { type: 'checkbox' });
  box.addEventListener('change', () => cursor.setGuessing(box.checked));
  const label = wrap('label', 'sv-switch sv-guess-first', box, make('span', '', t('rounds.guess_first')));
  label.title = t('rounds.guess_first_title');
  return label;
}

function speedSelect(player) {
  const select = make('select', 'sv-round-speed', '', { 'aria-label': t('rounds.speed') });
  select.append(...SPEEDS.map((n) => make('option', '', t('rounds.times_speed', { n }), { value: n })));
  select.value = '1';
  select.addEventListener('change', () => {
    player.speed = Number(select.value);
  });
  return select;
}

/** The lanes that draft of every panel that has a race, each panel's under its tab's name. */
function makeLaneSelect(cursor) {
  const element = make('select', 'sv-round-lane', '', { 'aria-label': t('rounds.lane') });
  element.addEventListener('change', () => {
    const [name, lane] = element.value.split(' ');
    cursor.enter(panels[name] ?? cursor.panel, Number(lane));
  });
  let drawn = '';
  const update = () => {
    const groups = [...new Set([...Object.values(panels), cursor.panel])]
      .filter(({ playback }) => playback.race.lanes.length)
      .map(({ name, playback: { race } }) => {
        const group = make('optgroup', '', '', { label: t(`tab.${name}`) });
        const lanes = race.drafting.length ? race.drafting : race.lanes;
        const option = (lane) => make('option', '', laneName(lane), { value: `${name} ${lane.index}` });
        group.append(...lanes.map(option));
        return group;
      });
    const text = groups.map((group) => group.outerHTML).join('\n');
    if (text !== drawn) element.replaceChildren(...(groups.length > 1 ? groups : groups[0].childNodes));
    drawn = text;
    element.value = `${cursor.panel.name} ${cursor.laneIndex}`;
  };
  return { element, update };
}

/** Make a listbox of bars, one a round: its height is the tokens gained, its mark a bonus. */
export function makeBars(cursor) {
  const element = make('div', 'sv-round-bars', '', {
    role: 'listbox',
    tabindex: '0',
    'aria-label': t('rounds.bars'),
    'aria-orientation': 'horizontal',
  });
  let [drawn, bars, chosen] = [null, [], null];
  element.addEventListener('click', (event) => {
    const bar = event.target.closest('[role=option]');
    if (bar) cursor.to(bars.indexOf(bar));
  });

  const choose = (bar) => {
    if (bar === chosen) return;
    chosen?.setAttribute('aria-selected', 'false');
    chosen = bar;
    bar.setAttribute('aria-selected', 'true');
    element.setAttribute('aria-activedescendant', bar.id);
    // Not scrollIntoView: that would move the whole page as well.
    element.scrollLeft = bar.offsetLeft - (element.clientWidth - bar.offsetWidth) / 2;
  };

  const update = () => {
    const { rounds, index, lane } = cursor;
    if (rounds !== drawn) {
      [drawn, bars] = [rounds, []];
      element.replaceChildren();
    }
    const added = rounds.slice(bars.length).map((round) => makeBar(round, lane.spec.gamma));
    bars.push(...added);
    element.append(...added);
    // With "guess first" no bar tells what is still to be guessed.
    bars.forEach((bar, each) => {
      const isVeiled = each >= index && cursor.isOpen(rounds[each]);
      if (bar.classList.contains('is-veiled') !== isVeiled) label(bar, rounds[each], isVeiled);
    });
    choose(bars[index]);
  };
  return { element, update };
}

function makeBar(round, gamma) {
  const n = round.written.length;
  const fill = make('i', '', '', { style: `height: ${(100 * n) / Math.max(gamma + 1, n)}%` });
  const bar = make('div', 'sv-round-bar', '', { role: 'option', 'aria-selected': 'false' });
  bar.id = `sv-round-bar-${round.number}`;
  bar.dataset.end = round.tokens.at(-1).fate.name;
  bar.append(fill);
  label(bar, round, false);
  return bar;
}

function label(bar, round, isVeiled) {
  const isBonus = bar.dataset.end === 'bonus';
  const told = round.isTree ? 'rounds.bar_bonus_tree' : 'rounds.bar_bonus';
  const id = isVeiled ? 'rounds.bar_veiled' : isBonus ? told : 'rounds.bar';
  bar.classList.toggle('is-veiled', isVeiled);
  bar.title = t(id, { round: round.number, n: round.written.length });
  bar.setAttribute('aria-label', bar.title);
}

// The head of Round by round: which lane, how to move, and where one stands.
import { make, setText } from '../core/dom.js';
import { aboutRecording } from '../core/recording.js';
import { t, tell } from '../core/strings.js';

const SPEEDS = [0.5, 1, 2, 4];

/** Draws lane, buttons, speed and slider, and keeps them in step with the reader. */
export class Toolbar {
  #reader;
  #player;
  #scenes;
  #drawn = '';
  #lanes = make('select', 'sv-round-lane', '', { 'aria-label': t('rounds.lane') });
  #about = make('p', 'sv-round-about');
  #badge = make('span', 'sv-badge sv-round-recorded', t('status.recorded'));
  #back = button('◀', t('rounds.previous'));
  #play = make('button', 'sv-button sv-round-play', '', { type: 'button' });
  #next = button('▶', t('rounds.next'));
  #slider = make('input', 'sv-round-slider', '', { type: 'range', min: '1' });
  #place = make('output', 'sv-round-place');

  constructor(reader, player, scenes) {
    this.#reader = reader;
    this.#player = player;
    this.#scenes = scenes;
    const head = make('div', 'sv-round-head');
    head.append(this.#lanes, this.#badge, this.#about, this.#guessSwitch());
    const row = make('div', 'sv-round-moves');
    const buttons = make('div', 'sv-round-buttons');
    buttons.append(this.#back, this.#play, this.#next, this.#speeds());
    this.#slider.setAttribute('aria-label', t('rounds.slider'));
    row.append(buttons, this.#slider, this.#place);
    this.element = make('div', 'sv-round-toolbar');
    this.element.append(head, row);
    this.#listen();
  }

  /** Show where the reader stands. */
  update() {
    const { rounds, index } = this.#reader;
    this.#showLanes();
    this.#showAbout();
    this.#slider.max = String(rounds.length);
    this.#slider.value = String(index + 1);
    const place = t('rounds.place', { round: index + 1, rounds: rounds.length });
    this.#slider.setAttribute('aria-valuetext', place);
    setText(this.#place, place);
    this.#back.disabled = index === 0;
    this.#next.disabled = index >= rounds.length - 1;
    setText(this.#play, t(this.#player.isPlaying ? 'rounds.pause' : 'rounds.play'));
  }

  /** Bring the keyboard here. */
  focus() {
    this.#play.focus({ preventScroll: true });
  }

  #listen() {
    const reader = this.#reader;
    this.#back.addEventListener('click', () => reader.to(reader.index - 1));
    this.#next.addEventListener('click', () => reader.to(reader.index + 1));
    this.#play.addEventListener('click', () => this.#player.toggle());
    this.#slider.addEventListener('input', () => reader.to(Number(this.#slider.value) - 1));
    this.#lanes.addEventListener('change', () => {
      const [scene, lane] = this.#lanes.value.split(' ');
      reader.enter(scene, Number(lane));
    });
  }

  #guessSwitch() {
    const label = make('label', 'sv-switch sv-guess-first', '', { title: t('rounds.guess_first_title') });
    const box = make('input', '', '', { type: 'checkbox' });
    box.addEventListener('change', () => this.#reader.setGuessing(box.checked));
    label.append(box, make('span', '', t('rounds.guess_first')));
    return label;
  }

  #speeds() {
    const select = make('select', 'sv-round-speed', '', { 'aria-label': t('rounds.speed') });
    for (const speed of SPEEDS) {
      select.append(make('option', '', t('rounds.times_speed', { n: speed }), { value: speed }));
    }
    select.value = '1';
    select.addEventListener('change', () => {
      this.#player.speed = Number(select.value);
    });
    return select;
  }

  // The lanes that guess of every scene that has a race; the other scene's under its tab's name.
  #showLanes() {
    const { books, scene, lane } = this.#reader;
    const open = Object.entries(books).filter(([, book]) => book.start);
    const groups = open.map(([name, book]) => {
      const group = make('optgroup', '', '', { label: t(`tab.${name}`) });
      const places = book.guessing().length ? book.guessing() : [0];
      group.append(
        ...places.map((place) =>
          make('option', '', tell(book.lanes[place].spec.name), { value: `${name} ${place}` }),
        ),
      );
      return group;
    });
    const drawn = groups.map((group) => group.textContent).join('\n');
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.#lanes.replaceChildren(...(groups.length > 1 ? groups : groups[0].childNodes));
    }
    this.#lanes.value = `${scene} ${lane}`;
  }

  #showAbout() {
    const { scene, spec, book } = this.#reader;
    const { recording } = this.#scenes[scene].pacer;
    const about = recording ? aboutRecording(recording) : tell(spec.about);
    setText(this.#about, t('rounds.about', { about, law: tell(book.start.law) }));
    this.#badge.hidden = !recording;
  }
}

function button(text, title) {
  return make('button', 'sv-button', text, { type: 'button', title, 'aria-label': title });
}

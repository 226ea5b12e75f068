// The entry of a race in one file: the page's own views around packets that stand in the file itself.
import { panels } from '../model/panels.js';
import { mountHeader } from '../page/header.js';
import { setStrings, t } from '../page/strings.js';
import { language } from '../page/numbers.js';
import { make, setText } from '../page/dom.js';
import { watchRoom } from '../page/room.js';
import { mountClock } from '../race/clock.js';
import { mountFigures } from '../race/figures.js';
import { mountNotes } from '../race/notes.js';
import { mountStage } from '../race/stage.js';
import { Strip } from '../race/strip.js';
import { mountTransport } from '../race/transport.js';
import { mountRounds } from '../rounds/rounds.js';
import { mountCharts } from './charts.js';
import { mountTabs } from './tabs.js';

document.body.classList.toggle('dark', window.matchMedia('(prefers-color-scheme: dark)').matches);
show(window.specvizFile);

function show({ strings, packets }) {
  setStrings(strings[language] ?? strings.en, strings.en);
  document.title = t('file.title');
  watchRoom();
  mountHeader(view('header'), { device: '', languages: Object.keys(strings) });
  view('about').append(make('p', '', t('file.about')));
  mountTabs(view('tabs'), ['race', 'rounds']);
  mountRace(panels.race);
  mountRounds(view('rounds'), { recorded: null });
  panels.race.playback.show(packets);
  setText(document.getElementById('sv-file-waiting'), '');
}

function mountRace(panel) {
  const strip = view('status');
  new Strip(strip, panel);
  mountTransport(strip, panel);
  mountNotes(strip, panel);
  mountFigures(view('figures'), null, panel);
  mountStage(view('stage'), panel);
  mountClock(view('clock'), null, panel);
  mountCharts(view('charts'), panel);
}

/** The element that a part is drawn into. */
function view(name) {
  return document.querySelector(`.sv-${name}-view`);
}

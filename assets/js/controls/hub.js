// "From the hub": a pair is chosen, looked at, and then downloaded and raced.
import { make, makeButton, setText, wrap } from '../page/dom.js';
import { setEnabled } from '../page/enabled.js';
import { gigabytes } from '../page/numbers.js';
import { sentence, t } from '../page/strings.js';
import { hasLive, onBusyChange } from '../model/panels.js';
import { ask } from '../wire/server.js';
import { factsOf, nameOf } from './hub_facts.js';
import { reportOf } from './hub_report.js';
import { raceOfHub } from './hub_race.js';
import { offerPair } from './menu.js';
import { apply, current, onHubWish } from './settings.js';

const OWN = 'own';
const OPEN_TO_ALL = 'any';

/** Draw the panel; without data the page is silent of the hub. */
export function mountHub(container, data) {
  if (!data) return;
  const panel = new HubPanel(data);
  container.append(panel.element);
  if (data.access !== 'off') onHubWish((settings) => panel.follow(settings));
}

class HubPanel {
  #pairs;
  #access;
  #select = make('select', 'sv-hub-pairs');
  #facts = make('div', 'sv-hub-facts');
  #target = idField();
  #draft = idField();
  #head = idField();
  #own;
  #look = makeButton(t('hub.look'), () => this.#lookAt(), 'sv-button');
  #said = make('p', 'sv-hub-said', '', { role: 'status' });
  #report = make('div', 'sv-hub-report');
  #race = makeButton('', () => this.#raceIt(), 'sv-button is-main sv-hub-race');
  /** What was looked at: the pair on the menu and its draft; null before, and where it cannot be raced. */
  #found = null;
  /** Counts what was looked at, so that a late answer is not taken for the newest. */
  #turn = 0;

  constructor({ pairs, access, takes_sign_in: takesSignIn }) {
    this.#pairs = pairs;
    this.#access = access;
    const isOff = access === 'off';
    this.#own = wrap('div', 'sv-hub-own', field('target', this.#target), field('draft', this.#draft), field('head', this.#head));
    const about = make('p', 'sv-hub-about', t(isOff ? 'hub.off' : 'hub.about'));
    const steps = wrap('div', 'sv-hub-steps', this.#look, this.#race);
    const body = wrap('div', 'sv-hub-body', about, field('pair', this.#select), this.#facts);
    body.append(this.#own, steps, this.#said, this.#report);
    if (takesSignIn) body.append(make('p', 'sv-hub-sign-in', t('hub.sign_in')));
    const title = wrap('summary', '', make('b', '', t('hub.title')), make('span', '', t('hub.title_more')));
    this.element = wrap('details', 'sv-hub', title, body);
    this.element.classList.toggle('is-off', isOff);
    this.#fillSelect();
    this.#select.addEventListener('change', () => this.#choose());
    for (const input of [this.#target, this.#draft, this.#head]) input.addEventListener('input', () => this.#forget());
    setEnabled(this.#look, !isOff);
    onBusyChange(() => this.#followBusy());
    this.#choose();
  }

  /** See to settings for a model that nobody has looked at: take it where somebody else has, else show it. */
  async follow(settings) {
    const { pair } = await ask('hub_known', settings.target);
    if (pair) {
      offerPair(pair);
      apply({ target: settings.target, lanes: settings.lanes });
      return;
    }
    const draft = settings.lanes?.find((lane) => lane.draft)?.draft ?? null;
    const head = draft === null ? (settings.lanes?.find((lane) => lane.head)?.head ?? null) : null;
    this.#fill({ target: settings.target, draft, head });
    this.element.open = true;
  }

  #fillSelect() {
    this.#pairs.forEach((pair, index) => this.#select.append(make('option', '', nameOf(pair), { value: index })));
    if (this.#access === OPEN_TO_ALL) this.#select.append(make('option', '', t('hub.own'), { value: OWN }));
  }

  #fill({ target, draft, head }) {
    const index = this.#pairs.findIndex((pair) => pair.target === target && pair.draft === draft && pair.head === head);
    if (index >= 0) this.#select.value = String(index);
    else if (this.#access === OPEN_TO_ALL) {
      this.#select.value = OWN;
      [this.#target.value, this.#draft.value, this.#head.value] = [target, draft ?? '', head ?? ''];
    }
    this.#choose();
  }

  #choose() {
    const pair = this.#chosen();
    this.#own.hidden = pair !== null;
    this.#facts.replaceChildren(...(pair ? factsOf(pair) : []));
    this.#forget();
  }

  /** The pair of the catalogue that is chosen, null where the visitor names one. */
  #chosen() {
    return this.#pairs[this.#select.value] ?? null;
  }

  /** What was looked at is not what is chosen any more. */
  #forget() {
    this.#turn += 1;
    this.#found = null;
    this.#report.replaceChildren();
    setText(this.#said, '');
    this.#followBusy();
    setEnabled(this.#look, this.#access !== 'off');
  }

  #names() {
    const pair = this.#chosen();
    if (pair) return { target: pair.target, draft: pair.draft, head: pair.head };
    const [draft, head] = [this.#draft, this.#head].map((input) => input.value.trim() || null);
    return { target: this.#target.value.trim(), draft, head };
  }

  async #lookAt() {
    this.#forget();
    const turn = this.#turn;
    const { target, draft, head } = this.#names();
    if (draft !== null && head !== null) {
      setText(this.#said, t('hub.one_of_both'));
      return;
    }
    const { prompt, tokens, lanes } = current();
    setText(this.#said, t('hub.looking'));
    setEnabled(this.#look, false);
    const answer = await ask('hub_look', target, draft, prompt, tokens, lanes[0].gamma, head);
    if (turn !== this.#turn) return;
    setEnabled(this.#look, true);
    setText(this.#said, answer.error ? sentence(answer.error) : '');
    if (answer.error) return;
    this.#report.append(...reportOf(target, answer));
    this.#found = answer.pair && { pair: answer.pair, draft, head, bytes: answer.download_bytes };
    this.#followBusy();
  }

  /** The button that races is there once nothing speaks against the pair; a visitor has one race at a time. */
  #followBusy() {
    this.#race.hidden = this.#found === null;
    if (this.#found === null) return;
    const { bytes } = this.#found;
    setText(this.#race, bytes ? t('hub.download', { gb: gigabytes(bytes) }) : t('hub.race'));
    setEnabled(this.#race, !hasLive());
  }

  async #raceIt() {
    if (hasLive()) return;
    setText(this.#said, '');
    const { pair, draft, head } = this.#found;
    const before = await raceOfHub(pair, { draft, head });
    // Its files may be here now.
    if (this.#found?.pair === pair && before === null) this.#found = { ...this.#found, bytes: 0 };
    this.#followBusy();
    if (before) setText(this.#said, t('hub.back', { target: before.target }));
  }
}

function idField() {
  return make('input', '', '', { type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 193 });
}

function field(name, control) {
  return wrap('label', 'sv-editor-field', make('span', '', t(`hub.${name}`)), control);
}

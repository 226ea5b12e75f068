// Example prompts: a row of groups, the prompts of the open group, and what to watch in the chosen one.
import { make, setText } from './dom.js';

/** Draw the gallery; `choose(prompt)` is called for the prompt that is pressed. */
export function mountExamples(place, { groups, first }, choose) {
  const tabs = make('div', 'sv-groups', '', { role: 'group', 'aria-label': 'Kinds of example' });
  const rows = make('div', 'sv-chips');
  const hint = make('p', 'sv-hint', '', { role: 'status' });
  const parts = groups.map((group) => {
    const row = make('div', 'sv-chip-row', '', { role: 'group', 'aria-label': `${group.label} prompts` });
    const chips = group.examples.map((example) => chipOf(example));
    row.append(...chips.map((chip) => chip.button));
    const tab = make('button', 'sv-group', group.label, { type: 'button' });
    tab.addEventListener('click', () => open(tab));
    return { row, tab, chips };
  });
  tabs.append(...parts.map((part) => part.tab));
  rows.append(...parts.map((part) => part.row));
  place.append(tabs, rows, hint);

  function chipOf(example) {
    const button = make('button', 'sv-chip', example.label, { type: 'button', title: example.prompt });
    button.addEventListener('click', () => {
      choose(example.prompt);
      show(example);
    });
    return { button, example };
  }

  function open(tab) {
    for (const part of parts) {
      part.row.hidden = part.tab !== tab;
      part.tab.setAttribute('aria-pressed', String(part.tab === tab));
    }
  }

  /** Mark the chosen prompt and say what to watch in it; null where the prompt is the visitor's own. */
  function show(example) {
    for (const { button, example: each } of parts.flatMap((part) => part.chips)) {
      button.setAttribute('aria-pressed', String(each === example));
    }
    setText(hint, example ? example.hint : '');
  }

  const known = parts.find((part) => part.chips.some(({ example }) => example.prompt === first));
  open((known ?? parts[0]).tab);
  show(known?.chips.find(({ example }) => example.prompt === first).example ?? null);
  document.addEventListener('input', (event) => {
    if (event.target.closest('#sv-prompt')) show(null);
  });
}

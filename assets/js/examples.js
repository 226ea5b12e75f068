// Example prompts, one row of buttons a group.
import { make } from './dom.js';

/** Draw the groups; `choose(prompt)` is called for the one that is pressed. */
export function mountExamples(place, groups, choose) {
  place.setAttribute('role', 'group');
  place.setAttribute('aria-label', 'Example prompts');
  for (const group of groups) {
    const row = make('div', 'sv-example-group');
    row.append(make('span', 'sv-example-label', group.label));
    for (const example of group.examples) {
      const button = make('button', 'sv-chip', example.label, {
        type: 'button',
        title: example.prompt,
      });
      button.addEventListener('click', () => choose(example.prompt));
      row.append(button);
    }
    place.append(row);
  }
}

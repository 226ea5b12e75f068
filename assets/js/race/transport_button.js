// A button of the transport: a sign, its text, and what it does as a title.
import { make, makeButton } from '../page/dom.js';
import { icon } from '../page/icons.js';
import { t } from '../page/strings.js';

/** Make it; its texts are `transport.NAME` and `transport.NAME_title`, its class is `sv-STYLE`. */
export function transportButton(name, act, style = name) {
  const title = t(`transport.${name}_title`);
  const element = makeButton('', act, `sv-button sv-${style}`, { title });
  element.append(icon(name), make('span', '', t(`transport.${name}`)));
  return element;
}

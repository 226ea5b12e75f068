// The switch of the chat template is Gradio's own; it is shown where the chosen target has a template.
import { pairOf } from './menu.js';
import { onChange } from './settings.js';

/** Show the switch with the targets that it means something for. */
export function watchChatSwitch() {
  onChange(({ target }) => {
    document.getElementById('sv-chat')?.classList.toggle('sv-on', pairOf(target)?.has_chat === true);
  });
}

// The status strip of the page, with the transport in it and all that a visitor may do from there.
import { focusPrompt } from '../controls/prompt_field.js';
import { apply } from '../controls/settings.js';
import { startLesson } from '../learn/coach.js';
import { notifyBusy, onBusyChange } from '../model/panels.js';
import { setEnabled } from '../page/enabled.js';
import { RaceFiles } from './files.js';
import { mountNotes } from './notes.js';
import { makeLiveOffer } from './race_live.js';
import { makeQueueNote } from './queue_note.js';
import { Strip } from './strip.js';
import { mountTransport } from './transport.js';

onBusyChange((isBusy) => {
  for (const button of document.querySelectorAll('button.sv-start')) setEnabled(button, !isBusy);
});

/** Draw the strip; `data.prompts` are the gallery’s by id. */
export function mountStatus(container, data, panel) {
  const strip = new Strip(container, panel, [...makeLiveOffer(panel), makeQueueNote(panel)]);
  mountTransport(container, panel, new RaceFiles(panel, (text) => strip.refuse(text)));
  const prompts = (panel.name === 'race' && data?.prompts) || {};
  mountNotes(container, panel, { prompts, usePrompt, startLesson });
  notifyBusy();
}

function usePrompt(prompt) {
  apply({ prompt });
  focusPrompt();
}

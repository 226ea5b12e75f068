// The page's tabs, from a script: which one is open, and opening another.
import { t } from './strings.js';

/** Whether a tab is the open one. */
export function isOpen(name) {
  return document.getElementById(`sv-tab-${name}`)?.checkVisibility() ?? false;
}

/** Open a tab; on a narrow screen its button may lie in the menu of those that found no room. */
export function openTab(name) {
  if (isOpen(name)) return;
  /** @type {NodeListOf<HTMLElement>} */
  const inMenu = document.querySelectorAll('#sv-tabs .overflow-dropdown button');
  const button =
    document.getElementById(`sv-tab-${name}-button`) ??
    [...inMenu].find((each) => each.textContent.trim() === t(`tab.${name}`));
  button?.click();
}

/** Name the tabs: Gradio reads their labels once, before it knows the language of this visit. */
export function nameTabs() {
  for (const button of document.querySelectorAll('#sv-tabs button[id^="sv-tab-"]')) {
    const [, name] = /^sv-tab-(\w+)-button$/.exec(button.id) ?? [];
    const label = [...button.childNodes].find((node) => node instanceof Text && node.data.trim());
    if (name && label instanceof Text) label.data = t(`tab.${name}`);
  }
}

// Small signs for buttons, drawn here because not every system's fonts have them.

const SVG = 'http://www.w3.org/2000/svg';
const PATHS = {
  pause: 'M4 2h3v12H4zM9 2h3v12H9z',
  resume: 'M4 2l10 6-10 6z',
  step: 'M2 2l8 6-8 6zM11 2h3v12h-3z',
  stop: 'M3 3h10v10H3z',
  again: 'M8 3V0l5 4-5 4V5a4 4 0 1 0 4 4h2a6 6 0 1 1-6-6z',
  save: 'M7 1h2v7h3l-4 4-4-4h3zM2 13h12v2H2z',
  open_race: 'M7 12h2V5h3L8 1 4 5h3zM2 13h12v2H2z',
};

/** A sign in the colour of the text; it says nothing that the text beside it does not. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'sv-icon');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(document.createElementNS(SVG, 'path'));
  setIcon(svg, name);
  return svg;
}

/** Turn a sign into another one. */
export function setIcon(svg, name) {
  if (svg.dataset.name === name) return;
  svg.dataset.name = name;
  svg.firstChild.setAttribute('d', PATHS[name]);
}

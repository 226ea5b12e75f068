// Saves a chart as a picture, PNG or SVG, from its own bar of buttons and without any server.
import { CONFIG } from './plotly.js';
import { asText } from './plotly_text.js';
import { language } from './numbers.js';
import { t } from './strings.js';
import { readTheme } from './theme.js';

const FORMATS = ['png', 'svg'];
/** Dots of a PNG for each of the screen, so that it stays sharp on a slide. */
const SCALE = 2;
/** Names that plotly gives its buttons, and the texts that say the same. */
const OWN_BUTTONS = { Zoom: 'zoom', Pan: 'pan', 'Zoom in': 'zoom_in', 'Zoom out': 'zoom_out', 'Reset axes': 'reset_axes' };
const TITLE_PX = 40;
const EDGE_PX = 12;

/**
 * What plotly is given for a chart that can be saved as `specviz-NAME.FORMAT`, with its title in the picture.
 * It is made once a chart: plotly draws one anew whose functions are others.
 */
export function savableConfig(name, title) {
  const buttons = FORMATS.map((format) => ({
    name: `save-${format}`,
    title: t(`chart.save_${format}`),
    icon: signOf(format),
    click: (plot) => save(plot, format, name, title),
  }));
  const removed = [...CONFIG.modeBarButtonsToRemove, 'toImage'];
  return { ...CONFIG, ...inLanguage(), modeBarButtonsToRemove: removed, modeBarButtonsToAdd: buttons };
}

/** What plotly calls its own buttons, in the reader's language. */
function inLanguage() {
  const dictionary = Object.fromEntries(Object.entries(OWN_BUTTONS).map(([name, key]) => [name, t(`chart.${key}`)]));
  return { locale: language, locales: { [language]: { dictionary, format: {} } } };
}

/** Charts have no ground and no title of their own: the page around them has both. */
function save(plot, format, name, title) {
  const theme = readTheme();
  // What the lines are called stands right above them, below the title.
  const top = TITLE_PX + (plot.querySelector('.legend')?.getBoundingClientRect().height ?? 0);
  const font = { size: 15 * theme.textScale, color: theme.ink };
  const place = { x: 0, xref: 'paper', y: 1, yref: 'container', yanchor: 'top', pad: { t: EDGE_PX } };
  const layout = {
    ...plot.layout,
    paper_bgcolor: theme.surface,
    title: { text: asText(title), font, ...place },
    margin: { t: top, b: EDGE_PX, l: EDGE_PX, r: EDGE_PX },
  };
  const size = { width: plot.clientWidth, height: plot.clientHeight + TITLE_PX };
  const picture = { format, filename: `specviz-${name}`, scale: format === 'png' ? SCALE : 1, ...size };
  return window.Plotly.downloadImage({ data: plot.data, layout, config: plot.config }, picture);
}

/** The name of the format as the sign of its button. */
function signOf(format) {
  const words = `<text x="17" y="15" text-anchor="middle" font-size="14">${format.toUpperCase()}</text>`;
  return { svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 34 20">${words}</svg>` };
}

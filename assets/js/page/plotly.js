// Loads plotly.js once, when the first chart comes into sight; what all charts have in common.
import { make } from './dom.js';
import { separators } from './numbers.js';

/** What plotly may offer beside a chart: nothing that leaves this machine. */
export const CONFIG = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: '',
  modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
};

let loading = null;

/** Load plotly.js from the page's own server; later calls wait for the same load. */
export function loadPlotly(address) {
  loading ??= new Promise((resolve, reject) => {
    const root = window.gradio_config?.root ?? '';
    const script = make('script', '', '', { src: root + address });
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('plotly.js could not be loaded')));
    document.head.append(script);
  });
  return loading;
}

/** The frame that all charts share; `x` and `y` add to their axes. */
export function chartLayout(theme, { x, y, legend, ...rest }) {
  const axis = {
    gridcolor: theme.grid,
    linecolor: theme.grid,
    zerolinecolor: theme.grid,
    automargin: true,
    fixedrange: false,
    // Else plotly measures every label at every redraw, and each measurement lays the page out.
    tickangle: 0,
    ticklabeloverflow: 'allow',
  };
  return {
    autosize: true,
    separators: separators(),
    margin: { l: 8, r: 8, t: 8, b: 8 },
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: theme.font, color: theme.soft, size: 12 * theme.textScale },
    xaxis: { ...axis, ...x },
    yaxis: { ...axis, ...y },
    modebar: { bgcolor: theme.surface, color: theme.soft, activecolor: theme.ink },
    legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom', ...legend },
    ...rest,
  };
}

// What the page's scripts find in the browser beside the browser's own names.

/** The languages there are: the server writes this line before early.js. */
declare const LANGUAGES: string[];

interface Window {
  /** Set by early.js. */
  specvizLanguage: string;
  /** Gradio's own settings of the page. */
  gradio_config: { root?: string };
  /** What an exported race holds, unpacked by export/loader.js: packets, and texts by language. */
  specvizFile: { packets: any[]; strings: Record<string, Record<string, string>> };
  /** There once plotly.min.js is loaded. */
  Plotly: any;
}

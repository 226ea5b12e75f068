// Runs in the page's head, before anything is drawn: language, text size and embedding of this visit.
// A plain script that is written into the page; `LANGUAGES` stands before it.
(() => {
  const asked = new URLSearchParams(window.location.search);
  const remembered = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };

  // The language of the address, else the one chosen before, else the browser's, else English.
  const wishes = [asked.get('lang'), remembered('specviz-language'), ...navigator.languages];
  const known = wishes.map((wish) => wish?.slice(0, 2)).find((wish) => LANGUAGES.includes(wish));
  window.specvizLanguage = known ?? 'en';
  document.documentElement.lang = window.specvizLanguage;
  // Gradio asks the browser which language its own labels take.
  for (const [name, value] of Object.entries({ language: known, languages: [known] })) {
    if (known) Object.defineProperty(navigator, name, { get: () => value, configurable: true });
  }
  // It has asked before this head is there: its own module changes the language of labels that are drawn.
  const loaded = performance.getEntriesByType('resource').map((entry) => entry.name);
  const core = loaded.find((name) => /\/core-[\w-]+\.js$/.test(name));
  if (core) import(core).then(({ changeLocale }) => changeLocale?.(window.specvizLanguage));

  document.documentElement.classList.toggle('sv-embed', asked.get('embed') === '1');
  document.documentElement.classList.toggle(
    'sv-projector',
    (asked.get('size') ?? remembered('specviz-size')) === 'projector',
  );
})();

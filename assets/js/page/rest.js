// Lets a page at rest be at rest, whatever Gradio's loader still asks for.

/** By then the loader has gone. */
const LOADED_MS = 1500;

/**
 * Gradio's loader counts the seconds it takes in every frame, and never stops (seen in 6.x): sixty frames a
 * second for nothing, which slow a race on a slow device. It holds the browser's function from
 * before the page was there; all others ask by name. So what is asked for past the name is the loader's.
 */
export function stopLoader() {
  setTimeout(() => watchFrames(), LOADED_MS);
}

/** Note who asks for frames, from one frame to the end of the next, and cancel what nobody asked for by name. */
function watchFrames() {
  const ask = window.requestAnimationFrame;
  const named = new Set();
  const watched = (callback) => {
    const id = ask.call(window, callback);
    named.add(id);
    return id;
  };
  window.requestAnimationFrame = watched;
  const { port1, port2 } = new MessageChannel();
  const first = ask.call(window, () => watched(() => port2.postMessage(null)));
  port1.onmessage = () => {
    if (window.requestAnimationFrame === watched) window.requestAnimationFrame = ask;
    const newest = ask.call(window, () => {});
    for (let id = first + 1; id < newest; id++) if (!named.has(id)) cancelAnimationFrame(id);
  };
}

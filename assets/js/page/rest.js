// Lets a page at rest be at rest, whatever Gradio's loader still asks for.

/** By then the loader has gone. */
const LOADED_MS = 1500;
/** It shows itself in the next frame, or is no longer what it was. */
const PATIENCE_MS = 5000;
/** The script that it is in. */
const SCRIPT = '/statustracker-';

/**
 * Gradio's loader counts the seconds it takes in every frame, and never stops (seen in 6.x): sixty frames a
 * second for nothing, which slow a race on a slow device. It looks at the clock and asks for the next frame,
 * so who finds it at the clock knows the number of the frame that it asks for.
 */
export function stopLoader() {
  setTimeout(watchClock, LOADED_MS);
}

function watchClock() {
  const restore = () => delete performance.now;
  const timer = setTimeout(restore, PATIENCE_MS);
  performance.now = () => {
    if (new Error().stack?.includes(SCRIPT)) {
      clearTimeout(timer);
      restore();
      const id = requestAnimationFrame(() => {});
      queueMicrotask(() => cancelAnimationFrame(id + 1));
    }
    return Performance.prototype.now.call(performance);
  };
}

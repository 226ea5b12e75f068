// Whether a race goes on anywhere on the page: a visitor has one race at a time.

const busyScenes = new Set();
const listeners = [];

/** Follow a scene's pacer. */
export function watchBusy({ name, pacer }) {
  pacer.subscribe(() => {
    if (pacer.isBusy === busyScenes.has(name)) return;
    if (pacer.isBusy) busyScenes.add(name);
    else busyScenes.delete(name);
    tellBusy();
  });
}

/** Call `listener(isBusy)` now and whenever it changes. */
export function onBusyChange(listener) {
  listeners.push(listener);
  listener(busyScenes.size > 0);
}

/** Tell all listeners again, for instance because buttons were drawn late. */
export function tellBusy() {
  for (const listener of listeners) listener(busyScenes.size > 0);
}

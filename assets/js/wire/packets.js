// Reads packets as the server sends them and hands each to the panel that it names.
import { VISIT, remember, remembered } from '../page/memory.js';
import { ask, connectServer, control } from './server.js';

/** Under which the last run of a panel is remembered, for a reload. */
const keyOf = (panel) => `specviz-run-${panel}`;

/** Read packets as they come; ask the server again for any that a busy page skipped. */
export function connect(panels, props, server, watch) {
  connectServer(server);
  let turn = Promise.resolve();
  watch('value', () => {
    const text = props.value;
    // A packet that fails must not hold up those after it.
    if (text) turn = turn.then(() => take(text)).catch((error) => console.error('a packet failed', error));
  });
  for (const panel of Object.values(panels)) restore(panel);

  async function take(text) {
    const packet = JSON.parse(await unpack(text));
    const { playback, name } = panels[packet.panel];
    if (!playback.isCurrent(packet.run)) return;
    const isRefused = packet.status?.state === 'refused';
    if (isRefused) playback.refuse(packet.status);
    // A race that never began takes no other's place.
    if (isRefused && !playback.holds(packet.run)) return;
    if (!playback.holds(packet.run)) {
      playback.open(packet.run);
      remember(keyOf(name), packet.run, VISIT);
    }
    const next = playback.nextOf(packet.run);
    if (packet.seq > next) await refill(playback, packet.run, next);
    playback.take(packet);
  }
}

/** Wish something of a run; the last packets of one that this ends before it could run are read. */
export async function wishOf(playback, run, wish, value) {
  const { packets } = await control(run, wish, value);
  if (!packets?.length) return;
  await refill(playback, run, playback.nextOf(run));
}

/** Give a packet's JSON: it is plain, or deflated in base64. */
export async function unpack(text) {
  if (text.startsWith('{')) return text;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const { writable, readable } = new DecompressionStream('deflate');
  const writer = writable.getWriter();
  // Where the bytes are broken the reader fails too, and tells it.
  for (const done of [writer.write(bytes), writer.close()]) done.catch(() => {});
  return new Response(readable).text();
}

/** Read the packets of a run from a number on, as the server keeps them. */
async function refill(playback, run, first) {
  const packets = await ask('replay', run, first);
  if (Array.isArray(packets)) for (const text of packets) playback.take(JSON.parse(text));
}

/** After a reload, show what the last race of this visit had come to. */
async function restore({ name, playback }) {
  const run = remembered(keyOf(name), VISIT);
  if (!run || playback.run) return;
  const packets = await ask('replay', run, 0);
  if (!Array.isArray(packets) || !packets.length || playback.run || playback.recording) return;
  playback.open(run);
  for (const text of packets) playback.take(JSON.parse(text));
  playback.flush();
  if (!playback.isBusy) return;
  control(run, 'stop');
  playback.end('status.reloaded');
}

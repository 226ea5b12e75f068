// Feeds the pacers from the hidden component whose value is always the newest packet.
import { unpack } from './packing.js';
import { ask, connectServer } from './server.js';

/** Read packets as they come; ask the server again for any that a busy page skipped. */
export function connect(scenes, props, server, watch) {
  connectServer(server);
  let turn = Promise.resolve();
  watch('value', () => {
    const text = props.value;
    // A packet that fails must not hold up those after it.
    if (text) turn = turn.then(() => take(text)).catch((error) => console.error('a packet failed', error));
  });
  for (const { pacer } of Object.values(scenes)) pacer.restore();

  async function take(text) {
    const packet = JSON.parse(await unpack(text));
    const pacer = scenes[packet.scene]?.pacer;
    if (!pacer?.isCurrent(packet.run)) return;
    if (packet.run !== pacer.run) pacer.open(packet.run);
    if (packet.seq > pacer.next) await refill(pacer, packet.run);
    pacer.take(packet);
  }

  async function refill(pacer, run) {
    const missed = await ask('replay', run, pacer.next);
    if (Array.isArray(missed)) for (const text of missed) pacer.take(JSON.parse(text));
  }
}

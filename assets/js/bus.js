// Feeds the stores from the hidden component whose value is always the newest packet.

/** Read packets as they come; ask the server again for any that a busy page skipped. */
export function connect(stores, props, server, watch) {
  let turn = Promise.resolve();
  watch('value', () => {
    const text = props.value;
    if (text) turn = turn.then(() => take(text));
  });

  async function take(text) {
    const packet = JSON.parse(text);
    const store = stores[packet.scene];
    if (!store?.isCurrent(packet.run)) return;
    if (packet.run !== store.run) store.open(packet.run);
    if (packet.seq > store.next) await refill(store, packet.run);
    store.add(packet);
  }

  async function refill(store, run) {
    try {
      const missed = await server.replay(run, store.next);
      for (const text of missed) store.add(JSON.parse(text));
    } catch (error) {
      console.warn('packets were missed and could not be read again', error);
    }
  }
}

// Turns a trace into the packets of its race, in the browser alone: `specviz/trace/replay.py` does the same.

/**
 * @typedef {import('./race.js').Packet} Packet
 *
 * Give a trace's packets, one a round. Figures are computed by the server, so a replay without one
 * shows tokens, rounds, evidence and clocks, and no figure.
 * @returns {Packet[]}
 */
export function packetsOf({ request, environment, lanes }) {
  const specs = lanes.map((lane) => lane.spec);
  const prefill = lanes.map((lane) => lane.prefill_ms);
  const started = { event: 'RaceStarted', request, environment, specs, prefill_ms: prefill };
  /** @type {Packet[]} */
  const packets = [{ events: [started], status: { state: 'running' } }];
  const running = lanes.map((lane, index) => ({ lane, index, clock: 0, turn: 0 }));
  while (running.length) {
    const next = running.reduce((first, each) => (each.clock < first.clock ? each : first));
    packets.push({ events: takeTurn(next), status: { state: 'running' } });
    if (next.turn >= next.lane.rounds.length) running.splice(running.indexOf(next), 1);
  }
  packets.push({ status: endOf(lanes) });
  return packets;
}

/** The next round of a lane; a lane ends with its last one. */
function takeTurn(runner) {
  const { lane, index } = runner;
  const events = [];
  const round = lane.rounds[runner.turn];
  if (round) {
    runner.clock += round.draft_ms + round.verify_ms + round.other_ms;
    runner.turn += 1;
    events.push({ event: 'RoundFinished', lane: index, round });
  }
  if (runner.turn >= lane.rounds.length) {
    const { stop_reason: reason, error } = lane;
    events.push({ event: 'LaneFinished', lane: index, stop_reason: reason, error });
  }
  return events;
}

function endOf(lanes) {
  const errors = lanes.map((lane) => lane.error).filter(Boolean);
  if (errors.length) return { state: 'error', text: errors.join(' ') };
  const isStopped = lanes.some((lane) => lane.stop_reason === 'cancelled');
  return isStopped ? { state: 'stopped', text: { id: 'status.stopped_here' } } : { state: 'finished' };
}

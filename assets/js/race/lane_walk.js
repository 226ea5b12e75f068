// Where a key leads in a lane: left and right by token, up and down by round.

/** Give the entry that a key leads to from the entry at a place, or null for any other key. */
export function stepTo(key, entries, at) {
  const { round } = entries[at];
  switch (key) {
    case 'ArrowRight':
      return entries[Math.min(at + 1, entries.length - 1)];
    case 'ArrowLeft':
      return entries[Math.max(at - 1, 0)];
    case 'Home':
      return entries[0];
    case 'End':
      return entries.at(-1);
    case 'ArrowDown':
      return entries.find((entry) => entry.round > round) ?? entries.at(-1);
    case 'ArrowUp': {
      const before = entries.findLast((entry) => entry.round < round)?.round ?? round;
      return entries.find((entry) => entry.round === before);
    }
    default:
      return null;
  }
}

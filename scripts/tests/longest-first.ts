import type { RoomChoice } from './choose-tests.ts';

/** Rooms by what they cost, the dearest first; what is not named is cheap. */
const dear: readonly string[] = [
  'run-worker',
  'attack-trust',
  'coder',
  'run',
  'attack-policy',
  'bin',
  'attack-gates',
  'doors',
  'upkeep',
  'rows',
  'tool',
  'outsiders',
  'attack',
  'vcs',
  'run-fields',
  'kill',
  'attest',
  'demo',
  'attack-worlds',
  'run-decide',
  'house',
  'gates',
  'confinement',
  'store',
  'service',
  'service-kill',
  'plugins',
  'kernel',
  'frame',
  'providers',
  'artifacts',
];

/** Long ones first, so that the last lane is not left alone with one. */
export function longestFirst(rooms: readonly RoomChoice[]): readonly RoomChoice[] {
  const rank = ({ room }: RoomChoice): number => (dear.includes(room) ? dear.indexOf(room) : dear.length);
  return rooms.toSorted((a, b) => rank(a) - rank(b) || (a.room < b.room ? -1 : 1));
}

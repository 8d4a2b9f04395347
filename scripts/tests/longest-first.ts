import type { RoomChoice } from './choose-tests.ts';

/** Rooms by what they cost, the dearest first; what is not named is cheap. */
const dear: readonly string[] = [
  'session',
  'bin',
  'ledger',
  'attack',
  'attest',
  'outsiders',
  'screens',
  'compatibility',
  'run-worker',
  'vcs',
  'service',
  'agent',
  'run',
  'upkeep',
  'gates',
  'plan',
  'api',
  'tool',
  'store',
  'plugins',
  'kernel',
  'kill',
  'confinement',
];

/** Long ones first, so that the last lane is not left alone with one. */
export function longestFirst(rooms: readonly RoomChoice[]): readonly RoomChoice[] {
  const rank = ({ room }: RoomChoice): number => (dear.includes(room) ? dear.indexOf(room) : dear.length);
  return rooms.toSorted((a, b) => rank(a) - rank(b) || (a.room < b.room ? -1 : 1));
}

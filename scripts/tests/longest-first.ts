import type { RoomChoice } from './choose-tests.ts';

/** Rooms by what they cost, the dearest first; what is not named is cheap. */
const dear: readonly string[] = [
  'seal',
  'outsiders',
  'run',
  'bin',
  'screens',
  'upkeep',
  'attack',
  'agent',
  'session',
  'vcs',
  'compatibility',
  'attest',
  'plan',
  'gates',
  'service',
  'run-worker',
  'tool',
  'api',
  'ledger',
  'store',
  'kernel',
  'plugins',
  'confinement',
  'kill',
];

/** Long ones first, so that the last lane is not left alone with one. */
export function longestFirst(rooms: readonly RoomChoice[]): readonly RoomChoice[] {
  const rank = ({ room }: RoomChoice): number => (dear.includes(room) ? dear.indexOf(room) : dear.length);
  return rooms.toSorted((a, b) => rank(a) - rank(b) || (a.room < b.room ? -1 : 1));
}

import type { RoomChoice } from './choose-tests.ts';

/** Rooms by what they cost, the dearest first; what is not named is cheap. */
const dear: readonly string[] = [
  'coder',
  'outsiders',
  'run-worker',
  'attack-trust',
  'bin',
  'attack-gates',
  'attack-policy',
  'rows',
  'run-fields',
  'attack',
  'run',
  'vcs',
  'doors',
  'upkeep',
  'demo',
  'attest',
  'kill',
  'store',
  'run-decide',
  'tool',
  'gates',
  'attack-worlds',
  'plugins',
  'service-kill',
  'confinement',
  'intent',
  'service',
  'gates-reports',
  'house',
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

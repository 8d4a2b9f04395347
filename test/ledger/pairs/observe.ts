import { drivers } from './drivers.ts';
import type { Observation } from './observation.ts';
import { type Pair, runsOf, specsOf } from './pair.ts';

const known = new Map<string, Promise<Observation>>();
let runs = 0;

/** What comes of both specs of a pair; a spec that another pair has brought to the same end is not run again. */
export async function observe(pair: Pair): Promise<{ readonly a: Observation; readonly b: Observation }> {
  const { a, b, scene } = specsOf(pair);
  const [ofA, ofB] = runsOf(pair);
  const { [pair.endsAt]: drive } = drivers;
  return { a: await once(ofA, () => drive(scene, a)), b: await once(ofB, () => drive(scene, b)) };
}

/** How many specs were brought to an end. */
export const runsSoFar = (): number => runs;

function once(key: string, drive: () => Promise<Observation>): Promise<Observation> {
  const found = known.get(key);
  if (found) return found;
  runs += 1;
  const made = drive();
  known.set(key, made);
  return made;
}

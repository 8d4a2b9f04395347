import type { Json } from '../../engine/run/sample.ts';
import { type DriverName, drivers } from './drivers.ts';
import type { Observation } from './observation.ts';
import { type Pair, specsOf } from './pair.ts';
import type { Scene } from './scene.ts';

const known = new Map<string, Promise<Observation>>();
let runs = 0;

/** What comes of both specs of a pair; a spec that another pair has brought to the same end is not run again. */
export async function observe(pair: Pair): Promise<{ readonly a: Observation; readonly b: Observation }> {
  const { a, b, scene } = specsOf(pair);
  return { a: await once(pair.endsAt, scene, a), b: await once(pair.endsAt, scene, b) };
}

/** How many specs were brought to an end. */
export const runsSoFar = (): number => runs;

function once(endsAt: DriverName, scene: Scene, spec: Json): Promise<Observation> {
  const key = JSON.stringify([endsAt, scene, spec]);
  const found = known.get(key);
  if (found) return found;
  runs += 1;
  const made = drivers[endsAt](scene, spec);
  known.set(key, made);
  return made;
}

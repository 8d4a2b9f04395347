import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { PlanState } from './plan-state.ts';

/** The language servers that answered the attempts of a run, for the provenance: each once. */
export function answeringServers({ attempts }: Pick<PlanState, 'attempts'>): readonly DigestedThing[] {
  const all = attempts.flatMap(({ servers = [] }) => servers);
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

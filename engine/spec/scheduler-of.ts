import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** The Scheduler as creator of what it records, by the name that the contract gives it (document 1, actorMapping). */
export function schedulerOf({ objmodel }: Pick<EffectiveIntentSpec, 'objmodel'>): {
  readonly kind: 'system';
  readonly id: string;
} {
  return { kind: 'system', id: objmodel.actorMapping.orchestratorActorId };
}

import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import type { StoreSource } from '../../../core/contract/store-source.ts';
import type { Slot } from '../../../core/kernel/slot.ts';
import { type SealingForms, sealingFormsOf } from '../../config/sealing-forms.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';

/**
 * All that contract and repository are asked about of plugins before a run. What the built-in ones answer is had
 * without an engine (`plugins/preset/asked-built-ins.ts`).
 */
export interface AskedPlugins {
  /** Slot `store`. */
  readonly stores: Pick<Slot<StoreSource>, 'pick'>;
  /** How the sources in slots `signer` and `log` read their sections. */
  sealingForms(): Promise<SealingForms>;
  /** Hook `plan.draft`; nobody who changes a draft answers the one that was given. */
  redraft(draft: PlanDraft): Promise<PlanDraft>;
}

/** As an open engine answers. */
export function askedOf({ slots, hooks }: Pick<WritEngine, 'slots' | 'hooks'>): AskedPlugins {
  return {
    stores: slots.store,
    sealingForms: () => sealingFormsOf(slots),
    redraft: (draft) => hooks.plan.draft.call(draft),
  };
}

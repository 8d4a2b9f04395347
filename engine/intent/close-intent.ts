import type { LifecycleActor } from './activate-intent.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { appendIntentEvents } from './append-intent-events.ts';
import type { IntentHistory } from './intent-history.ts';
import type { IntentRunStore } from './open-run-store.ts';
import { recordIntent } from './record-intent.ts';
import { requireSameMetadata } from './require-same-metadata.ts';

/** An intent by the id in its metadata; with a contract, one that may not be recorded yet. */
export interface NamedIntent {
  readonly store: IntentRunStore;
  readonly specId: string;
  readonly contract?: AdmittedContract;
}

/** draft → closed or active → closed by a person. LIFECYCLE_ILLEGAL_TRANSITION, INTENT_NOT_FOUND. */
export async function closeIntent(
  { store, specId, contract }: NamedIntent,
  reason: string,
  { by, nowMs }: LifecycleActor,
): Promise<IntentHistory> {
  if (contract) await requireSameMetadata(store, contract);
  return appendIntentEvents(
    store,
    specId,
    [{ kind: 'closed', status: 'closed', by, nowMs, reason }],
    contract ? { record: (before) => recordIntent(contract, before, nowMs) } : {},
  );
}

import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec } from '../../core/contract/intentspec.gen.ts';
import { assertLifecycleMove } from '../spec/lifecycle.ts';
import { templateWords } from '../spec/rules/template-words.ts';
import type { ObjectHeader } from '../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { appendIntentEvents } from './append-intent-events.ts';
import type { IntentHistory } from './intent-history.ts';
import type { IntentRunStore } from './open-run-store.ts';
import { recordIntent } from './record-intent.ts';
import { isActivated } from './require-active.ts';
import { requireSameMetadata } from './require-same-metadata.ts';

/** Who makes a lifecycle move, and when. */
export interface LifecycleActor {
  readonly by: ObjectHeader['created_by'];
  readonly nowMs: number;
}

/**
 * draft → active, as an event: the contract is recorded as it is, the author's file is not touched. A draft that was
 * edited after its intent became active is confirmed anew, which moves no status. LIFECYCLE_ILLEGAL_TRANSITION for
 * anything that is no draft, INTENTSPEC_INVALID for the words of the template.
 */
export async function activateIntent(
  store: IntentRunStore,
  contract: AdmittedContract,
  { by, nowMs }: LifecycleActor,
): Promise<IntentHistory> {
  requireOwnWords(contract.document);
  await requireSameMetadata(store, contract);
  const { document, digest } = contract;
  const confirmed = { kind: 'activated' as const, by, nowMs, digest, reason: 'validated and confirmed' };
  return appendIntentEvents(
    store,
    document.metadata.id,
    (before) => {
      const revised =
        before?.status === 'active' && document.lifecycle.status === 'draft' && !isActivated(before, digest);
      if (revised) return [confirmed];
      assertLifecycleMove(before?.status ?? document.lifecycle.status, 'active');
      return [{ ...confirmed, status: 'active' }];
    },
    { record: (before) => recordIntent(contract, before, nowMs) },
  );
}

/** Whoever activates a contract agrees to its words; INTENTSPEC_INVALID where they are still those of `spec new`. */
function requireOwnWords(document: IntentSpec): void {
  const { lifecycle } = document;
  const issues = templateWords({ ...document, lifecycle: { ...lifecycle, status: 'active' } });
  const [first] = issues;
  if (first === undefined) return;
  throw new WritError('INTENTSPEC_INVALID', {
    message: `${first.path}: ${first.message}${issues.length > 1 ? `; ${issues.length} places in all` : ''}`,
    detail: { issues },
    hints: ['replace the words of the template: `writ spec validate` lists every place'],
  });
}

import { WritError } from '../../core/base/errors.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { type IntentHistory, type IntentStore, readIntentHistory } from './intent-history.ts';
import { intentEnded, isFinal, requireNotEnded } from './require-not-ended.ts';

/** Who asks: a run that goes on after its own commit closed the intent is not refused for that. */
export interface ActiveQuestion {
  readonly runId?: string;
}

/**
 * Whether this document may be worked on now: its intent is `active`, and so is the document, or it is the draft that
 * was activated, to the byte of its canonical form. Else LIFECYCLE_NOT_ACTIVE.
 */
export async function requireActive(
  store: IntentStore,
  contract: Pick<AdmittedContract, 'document' | 'digest'>,
  question: ActiveQuestion = {},
): Promise<void> {
  const { id } = contract.document.metadata;
  const history = await readIntentHistory(store, id);
  const stated = contract.document.lifecycle.status;
  if (history && isFinal(history.status)) {
    const last = history.statusEvent;
    if (last?.kind === 'closed' && last.run !== undefined && last.run === question.runId) return;
    throw intentEnded(id, history.status, last);
  }
  if (stated === 'active' || (stated === 'draft' && history && isActivated(history, contract.digest))) return;
  requireNotEnded(contract.document);
  const other = history?.status === 'active';
  throw new WritError('LIFECYCLE_NOT_ACTIVE', {
    message: other
      ? `intent \`${id}\` is active, but this draft of it was not confirmed: expected the document that was activated, found another`
      : `expected \`lifecycle.status\` to be \`active\`, found \`${stated}\``,
    detail: { spec_id: id, expected: 'active', found: stated, digest: contract.digest },
    hints: ['activate it: `writ spec activate FILE`'],
  });
}

/** True where the document with this digest was activated as an event. */
export function isActivated(history: IntentHistory, digest: string): boolean {
  return history.events.some(
    (event) => event.kind === 'activated' && event.external_ids.intentspec_digest === digest,
  );
}

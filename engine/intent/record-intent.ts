import { canonicalize } from '../../core/base/canonical.ts';
import { sealObject } from '../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { IntentRecord } from './append-intent-events.ts';
import { intentBody } from './intent-body.ts';
import type { IntentHistory } from './intent-history.ts';
import { threadOf } from './thread-of.ts';

/** The files of an intent whose contract is recorded now; the thread stays the one that the intent began with. */
export function recordIntent(
  contract: AdmittedContract,
  before: IntentHistory | undefined,
  nowMs: number,
): IntentRecord {
  const { effective, bytes, digest, document } = contract;
  const { id, createdBy, target } = effective.metadata;
  const thread = before?.thread ?? threadOf(effective.metadata);
  const { status } = document.lifecycle;
  if (before?.digest === digest) return { thread, status, files: [] };
  const intent = sealObject('intent', intentBody(contract), {
    nowMs,
    objectId: thread,
    createdBy: { kind: createdBy.type, id: createdBy.id },
    externalIds: { intentspec_id: id },
    tags: { ...target.labels },
  });
  return {
    thread,
    status,
    files: [
      ['intent.json', intent.bytes],
      ['spec.json', bytes],
      ['effective.json', Buffer.from(`${canonicalize(effective)}\n`)],
    ],
  };
}

import { canonicalize } from '../../core/base/canonical.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { IntentRecord } from './append-intent-events.ts';
import type { IntentHistory } from './intent-history.ts';
import { sealIntent } from './seal-intent.ts';
import { threadOf } from './thread-of.ts';

/** The files of an intent whose contract is recorded now; the thread stays the one that the intent began with. */
export function recordIntent(
  contract: AdmittedContract,
  before: IntentHistory | undefined,
  nowMs: number,
): IntentRecord {
  const { effective, bytes, digest, document } = contract;
  const thread = before?.thread ?? threadOf(effective.metadata);
  const { status } = document.lifecycle;
  if (before?.digest === digest) return { thread, status, files: [] };
  return {
    thread,
    status,
    files: [
      ['intent.json', sealIntent(contract, { threadId: thread, nowMs }).bytes],
      ['spec.json', bytes],
      ['effective.json', Buffer.from(`${canonicalize(effective)}\n`)],
    ],
  };
}

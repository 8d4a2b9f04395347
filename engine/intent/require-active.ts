/* Checks that the intent of a run is active. */
import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { IntentSpec, LifecycleStatus } from '../../core/interfaces/intentspec.gen.ts';
import type { RunStore } from '../../store/stores.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { type IntentHistory, type IntentStore, readIntentHistory } from './intent-history.ts';

/** The calling run: a resumed run is not refused because its own commit closed the intent. */
interface ActiveQuestion {
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

/** What is known of how an intent ended. */
interface IntentEnd {
  readonly run?: string;
  readonly superseded_by?: string;
}

/** Throws LIFECYCLE_NOT_ACTIVE for a document with a final status. */
export function requireNotEnded({ metadata, lifecycle }: IntentSpec): void {
  if (isFinal(lifecycle.status)) throw intentEnded(metadata.id, lifecycle.status);
}

/** A final status allows no transition. */
function isFinal(status: LifecycleStatus): boolean {
  return status === 'closed' || status === 'deprecated';
}

/** LIFECYCLE_NOT_ACTIVE of an intent that has ended. */
function intentEnded(id: string, status: LifecycleStatus, last?: IntentEnd): WritError {
  const successor = last?.superseded_by;
  return new WritError('LIFECYCLE_NOT_ACTIVE', {
    message: `expected intent \`${id}\` to be \`active\`, found \`${status}\`${successor === undefined ? '' : `: superseded by \`${successor}\``}`,
    detail: {
      spec_id: id,
      expected: 'active',
      found: status,
      ...(last?.run === undefined ? {} : { run_id: last.run }),
      ...(successor === undefined ? {} : { superseded_by: successor }),
    },
    hints: [
      successor === undefined
        ? 'a closed intent stays closed: give the next change a spec with a `metadata.id` of its own'
        : `run the spec \`${successor}\` instead`,
    ],
  });
}

/** Metadata are immutable after creation. Throws INTENTSPEC_INVALID if the same id has other metadata. */
export async function requireSameMetadata(
  { objects, refs }: RunStore,
  contract: AdmittedContract,
): Promise<void> {
  const { metadata } = contract.document;
  const stored = await objects.read(refs.intent(metadata.id), 'spec.json');
  if (!stored) return;
  const { value } = parseStrictJson(stored, { code: 'OBJECT_CORRUPT' });
  const before = (value as { readonly metadata?: unknown }).metadata;
  if (canonicalize(before) === canonicalize(metadata)) return;
  const issue = {
    code: 'SEMANTIC_METADATA_IMMUTABLE',
    path: '/metadata',
    message: `intent \`${metadata.id}\` was run with other metadata; a change means a new id`,
    severity: 'error' as const,
  };
  throw new WritError('INTENTSPEC_INVALID', {
    message: issue.message,
    detail: { issues: [issue] },
    hints: ['give the changed intent a `metadata.id` of its own'],
  });
}

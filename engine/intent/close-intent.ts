/* Moves an intent through its lifecycle: activate, supersede, close. */
import { WritError } from '../../core/base/errors.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { assertLifecycleMove } from '../../spec/checks-of.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { templateWords } from '../../spec/rules/document-rules.ts';
import type { ObjectHeader } from '../../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';
import {
  appendIntentEvents,
  recordIntent,
  unknownIntent,
  writeIntentEvents,
} from './append-intent-events.ts';
import type { IntentRunStore } from './find-intent.ts';
import {
  type IntentHistory,
  type IntentStore,
  isActivated,
  readIntentHistory,
  requireActive,
  requireSameMetadata,
} from './intent-history.ts';

/** An intent by the id in its metadata. If `contract` is set, the intent may not be recorded yet. */
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

interface CommittedRun {
  readonly runId: string;
  /** When it was decided. */
  readonly nowMs: number;
  readonly commitSha?: string;
}

/**
 * Decision.Commit closes the intent. Call it after the intent is recorded and the branch has moved. A second call
 * changes no state, and an intent that was ended meanwhile stays as it is.
 */
export async function closeByCommit(
  store: IntentStore,
  contract: Pick<AdmittedContract, 'effective' | 'digest'>,
  { runId, nowMs, commitSha }: CommittedRun,
): Promise<void> {
  const { metadata } = contract.effective;
  await writeIntentEvents(store, metadata.id, (before) => {
    if (before?.status === 'closed' || before?.status === 'deprecated') return [];
    return [
      {
        kind: 'closed',
        status: 'closed',
        by: schedulerOf(contract.effective),
        reason: `Decision.Commit of run ${runId}${commitSha === undefined ? '' : `: ${commitSha}`}`,
        run: runId,
        nowMs,
        digest: contract.digest,
      },
    ];
  });
}

/** Who makes a lifecycle move, and when. */
export interface LifecycleActor {
  readonly by: ObjectHeader['created_by'];
  readonly nowMs: number;
}

/**
 * draft → active, as an event: the spec is recorded unchanged, and the author's file is not modified. A draft that
 * was edited after its intent became active is confirmed again, without a status change. Throws
 * LIFECYCLE_ILLEGAL_TRANSITION if the intent is not a draft, and INTENTSPEC_INVALID for template text.
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

/**
 * A person who activates a spec agrees to its text. Throws INTENTSPEC_INVALID if it is still the text of `spec new`.
 */
function requireOwnWords(document: IntentSpec): void {
  const { lifecycle } = document;
  const issues = templateWords({ ...document, lifecycle: { ...lifecycle, status: 'active' } });
  const [first] = issues;
  if (first === undefined) return;
  throw new WritError('INTENTSPEC_INVALID', {
    message: `${first.path}: ${first.message}${issues.length > 1 ? `; ${issues.length} places in all` : ''}`,
    detail: { issues },
    hints: ['replace the placeholder texts; `writ spec validate` lists them'],
  });
}

/**
 * active → deprecated: the old intent and its successor name each other. An unrecorded old intent is recorded here.
 * The successor must be active and is written first. If the process is killed in between, a second call adds only the
 * missing events. Returns the old intent's history.
 */
export async function supersedeIntent(
  old: NamedIntent,
  next: NamedIntent,
  actor: LifecycleActor,
): Promise<IntentHistory> {
  if (old.specId === next.specId) {
    throw new WritError('USAGE', {
      message: `expected two different specs, found \`${old.specId}\` twice`,
      detail: { spec_id: old.specId },
      hints: ['give the new spec another `metadata.id`'],
    });
  }
  const { store, specId, contract } = old;
  if (contract) await requireSameMetadata(store, contract);
  const before = await readIntentHistory(store, specId);
  const status = before?.status ?? contract?.document.lifecycle.status;
  if (status === undefined) throw unknownIntent(specId);
  assertLifecycleMove(status, 'deprecated');
  await nameOld(specId, next, actor);
  return appendIntentEvents(
    store,
    specId,
    [
      {
        ...actor,
        kind: 'deprecated',
        status: 'deprecated',
        reason: `superseded by ${next.specId}`,
        superseded_by: next.specId,
      },
    ],
    contract ? { record: (known) => recordIntent(contract, known, actor.nowMs) } : {},
  );
}

async function nameOld(
  oldId: string,
  { store, specId, contract }: NamedIntent,
  actor: LifecycleActor,
): Promise<void> {
  if (contract) {
    await requireSameMetadata(store, contract);
    await requireActive(store, contract);
  }
  await appendIntentEvents(
    store,
    specId,
    (before) => {
      if (before && before.status !== 'active') {
        throw new WritError('LIFECYCLE_NOT_ACTIVE', {
          message: `expected intent \`${specId}\` to be \`active\`, found \`${before.status}\``,
          detail: { spec_id: specId, expected: 'active', found: before.status },
        });
      }
      if (before?.events.some((event) => event.supersedes === oldId)) return [];
      const digest = contract?.digest ?? before?.digest;
      return [
        {
          ...actor,
          kind: before ? 'activated' : 'created',
          reason: `supersedes ${oldId}`,
          supersedes: oldId,
          ...(digest === undefined ? {} : { digest }),
        },
      ];
    },
    contract ? { record: (before) => recordIntent(contract, before, actor.nowMs) } : {},
  );
}

/* Appends events to the history of an intent. */
import { canonicalize } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { LifecycleStatus, ReplanTrigger } from '../../core/interfaces/intentspec.gen.ts';
import type { RefWrite } from '../../core/interfaces/store.ts';
import { assertLifecycleMove } from '../../spec/checks-of.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { type ObjectBody, objectShapes } from '../../store/object-shapes.ts';
import { toJson } from '../../store/record/record-paths.ts';
import { toStored } from '../../store/shape.ts';
import {
  type ObjectHeader,
  type SealedObject,
  type StoredObject,
  sealObject,
} from '../../store/stored-object.ts';
import { writeTrees } from '../../store/stores.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { threadOf } from './find-intent.ts';
import {
  historyHeadPath,
  type IntentHistory,
  type IntentStore,
  intentEventPath,
  readIntentHistory,
} from './intent-history.ts';

/** One event to append. Where it changes the status, `status` is the new one; the old one is found out. */
export interface NewIntentEvent
  extends Pick<
    ObjectBody<'intent_event'>,
    'kind' | 'reason' | 'status' | 'diff_summary' | 'run' | 'superseded_by' | 'supersedes'
  > {
  readonly by: ObjectHeader['created_by'];
  readonly nowMs: number;
  /** The document that the event is about. */
  readonly digest?: string;
}

/** An intent that is not recorded yet, or one with its document recorded again with the events. */
interface IntentRecord {
  readonly thread: string;
  readonly status: LifecycleStatus;
  readonly files: readonly (readonly [path: string, bytes: Uint8Array])[];
}

interface AppendOptions {
  /**
   * Builds the intent's own files; called again after a lost race. If absent, an unknown intent is INTENT_NOT_FOUND.
   */
  readonly record?: (before: IntentHistory | undefined) => IntentRecord;
  /** Written with the events, and after them; repeatable. */
  readonly also?: () => readonly RefWrite[];
  /** The events are of another clone: their statuses need not follow from those here. */
  readonly isJoin?: boolean;
}

/** What to append, worked out on the history that it will follow. */
type PlanEvents = (before: IntentHistory | undefined) => readonly NewIntentEvent[];

// A lost race shows that another writer has succeeded.
const maxTries = 100;

/**
 * As `writeIntentEvents`, and returns the new history.
 */
export async function appendIntentEvents(
  store: IntentStore,
  specId: string,
  events: readonly NewIntentEvent[] | PlanEvents,
  options: AppendOptions = {},
): Promise<IntentHistory> {
  const same = await writeIntentEvents(store, specId, events, options);
  const after = same ?? (await readIntentHistory(store, specId));
  if (!after) throw unknownIntent(specId);
  return after;
}

/**
 * Appends to an intent's history by compare-and-swap; returns it if nothing was to be added. Existing events are never
 * rewritten. An event equal to an existing one (same content, same millisecond) is not added twice. Throws
 * LIFECYCLE_ILLEGAL_TRANSITION and INTENT_NOT_FOUND.
 */
export async function writeIntentEvents(
  store: IntentStore,
  specId: string,
  events: readonly NewIntentEvent[] | PlanEvents,
  options: AppendOptions = {},
): Promise<IntentHistory | undefined> {
  const plan = typeof events === 'function' ? events : () => events;
  for (let tries = 1; ; tries += 1) {
    const before = await readIntentHistory(store, specId);
    const record = options.record?.(before);
    if (!before && !record) throw unknownIntent(specId);
    const files = eventFiles(specId, before, record, plan(before), options.isJoin === true);
    const also = options.also?.() ?? [];
    const isKnown = files.length === 0 && before !== undefined;
    if (isKnown && also.length === 0) return before;
    const ref = store.refs.intent(specId);
    const write = {
      message: `writ: intent ${specId}`,
      keepExisting: true,
      expectedOld: before?.version ?? null,
      files: [...(record?.files ?? []), ...files],
    };
    try {
      await writeTrees(store.objects, [...(isKnown ? [] : [[ref, write] as const]), ...also]);
    } catch (fault) {
      const lost =
        isWritError(fault, 'EVIDENCE_WRITE_FAILED') &&
        Object.hasOwn(fault.detail, 'found') &&
        (also.length === 0 || fault.detail.ref === ref);
      if (!lost || tries === maxTries) throw fault;
      continue;
    }
    return undefined;
  }
}

/** The error for an id that is not recorded here. */
export function unknownIntent(specId: string): WritError {
  return new WritError('INTENT_NOT_FOUND', {
    message: `no spec with the id \`${specId}\` is stored here`,
    detail: { spec_id: specId },
  });
}

function eventFiles(
  specId: string,
  before: IntentHistory | undefined,
  record: IntentRecord | undefined,
  events: readonly NewIntentEvent[],
  isJoin: boolean,
): readonly (readonly [string, Uint8Array])[] {
  const files: (readonly [string, Uint8Array])[] = [];
  const known = new Set(before?.events.map((event) => event.object_id));
  const intent = before?.thread ?? record?.thread ?? '';
  let status = before?.status ?? record?.status;
  let number = before?.events.length ?? 0;
  let head = before?.head;
  for (const { by, nowMs, digest, ...event } of events) {
    const objectId = uuidV7From(nowMs, canonicalize({ specId, by, digest: digest ?? null, event }));
    if (known.has(objectId)) continue;
    if (!isJoin && event.status !== undefined && status !== undefined)
      assertLifecycleMove(status, event.status);
    const body: ObjectBody<'intent_event'> = {
      ...event,
      intent,
      by: by.id,
      ...(event.status === undefined || status === undefined ? {} : { from: status }),
    };
    const sealed = sealObject('intent_event', body, {
      nowMs,
      objectId,
      createdBy: by,
      externalIds: {
        intentspec_id: specId,
        ...(digest === undefined ? {} : { intentspec_digest: digest }),
        ...(head === undefined ? {} : { previous: head }),
      },
    });
    number += 1;
    head = sealed.sha256;
    status = event.status ?? status;
    known.add(objectId);
    files.push([intentEventPath(number), sealed.bytes]);
  }
  if (files.length > 0) {
    files.push([historyHeadPath, toJson({ events: number, sha256: head })]);
  }
  return files;
}

/** Returns the files that record a spec for its intent. The intent keeps its first thread. */
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
      ['effective.json', toJson(effective)],
    ],
  };
}

interface Replan {
  /** The Scheduler's actor id. */
  readonly by: string;
  readonly trigger: ReplanTrigger;
  /** What set it off; may be untrusted text of a check. */
  readonly description: string;
  /** What the new revision of the plan changes. */
  readonly diffSummary: string;
  readonly run?: string;
  readonly nowMs: number;
}

/**
 * Builds the event of one replan. Read back, it is one `changeLog` entry within the spec's length limits. The same
 * replan gives the same event.
 */
export function replanEvent({ by, trigger, description, diffSummary, run, nowMs }: Replan): NewIntentEvent {
  return {
    kind: 'replanned',
    by: { kind: 'system', id: by },
    reason: bounded(description === '' ? trigger : `${trigger}: ${description}`, 2000),
    diff_summary: bounded(diffSummary === '' ? `a new plan after ${trigger}` : diffSummary, 4000),
    ...(run === undefined ? {} : { run }),
    nowMs,
  };
}

/** At most `max` characters as the schema counts them, without NUL, which no object may hold. */
function bounded(text: string, max: number): string {
  const points = [...text.toWellFormed().replaceAll('\0', '\uFFFD')];
  return points.length <= max ? points.join('') : `${points.slice(0, max - 1).join('')}…`;
}

/** Builds the history events of one run: its start and its outcome. The same run gives the same events. */
export function runEventsOf(
  contract: Pick<AdmittedContract, 'effective' | 'digest'>,
  run: { readonly runId: string; readonly startedAtMs: number; readonly decidedAtMs: number },
  decision: Pick<StoredObject<'decision'>, 'type' | 'rationale'>,
): readonly NewIntentEvent[] {
  const { intent } = contract.effective;
  const about = {
    by: schedulerOf(contract.effective),
    run: run.runId,
    digest: contract.digest,
  } as const;
  return [
    { ...about, kind: 'run-started', reason: intent.summary, nowMs: run.startedAtMs },
    {
      ...about,
      kind: 'run-decided',
      reason: `${decision.type}: ${decision.rationale}`,
      nowMs: run.decidedAtMs,
    },
  ];
}

/**
 * Builds the stored Intent object of a spec, with the spec's creator as its creator. `threadId` is its own id, and
 * `nowMs` is the time of storing.
 */
export function sealIntent(
  { effective, digest }: Pick<AdmittedContract, 'effective' | 'digest'>,
  { threadId, nowMs }: { readonly threadId: string; readonly nowMs: number },
): SealedObject<'intent'> {
  const { intent, metadata, risk } = effective;
  const { id, createdBy, target } = metadata;
  const body = toStored(objectShapes.intent, {
    ...intent,
    intentspecDigest: digest,
    prompt: intent.problemStatement,
    riskLevel: risk.level,
  });
  return sealObject('intent', body, {
    nowMs,
    objectId: threadId,
    createdBy: { kind: createdBy.type, id: createdBy.id },
    externalIds: { intentspec_id: id },
    tags: { ...target.labels },
  });
}

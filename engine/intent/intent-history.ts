/* The history of an intent, and the checks that it is active. */
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ChangeLogEntry, IntentSpec, LifecycleStatus } from '../../core/interfaces/intentspec.gen.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { lifecycleMoves } from '../../spec/checks-of.ts';
import { parseObject, type StoredObject } from '../../store/stored-object.ts';
import type { RunStore } from '../../store/stores.ts';
import type { AdmittedContract } from './admit-contract.ts';

/** The part of a run store that intents need. */
export interface IntentStore {
  readonly objects: ObjectStore;
  readonly refs: { readonly intent: (specId: string) => string };
  /** False while the sealed commit of a run is not on the branch that counts (`store/landed.ts`). */
  readonly hasLanded: (runId: string) => Promise<boolean>;
}

export type IntentEvent = StoredObject<'intent_event'>;

/** An intent's spec as last recorded, and its events since. */
export interface IntentHistory {
  readonly specId: string;
  /** The Intent object's id. */
  readonly thread: string;
  /**
   * Status from the last event that changed it, or else from the document. A commit closes an intent only while the
   * commit has landed.
   */
  readonly status: LifecycleStatus;
  /** The event that `status` comes from; `undefined` if it comes from the document. */
  readonly statusEvent: IntentEvent | undefined;
  /** As last recorded. */
  readonly document: IntentSpec;
  /** Of `document`: SHA-256 of its canonical form. */
  readonly digest: string;
  /** In the order in which they were appended. */
  readonly events: readonly IntentEvent[];
  /** The author's entries, then one for every replan. */
  readonly changeLog: readonly ChangeLogEntry[];
  /** The store's version that all of this was read from. */
  readonly version: string;
  /** Digest of the last event's bytes; `undefined` before the first. */
  readonly head: string | undefined;
}

/** Beside the events: how many there are, and the digest of the last. Each event names the one before it by digest. */
export const historyHeadPath = 'history.json';

const maxTries = 16;

/** Returns the path of event `number` (from 1) under the intent's ref. */
export function intentEventPath(number: number): string {
  return `events/${String(number).padStart(6, '0')}.json`;
}

/**
 * Reads an intent by the id in its metadata; `undefined` if none is recorded. Throws OBJECT_CORRUPT if an event is
 * missing, or was changed or added from outside writ.
 */
export async function readIntentHistory(
  store: IntentStore,
  specId: string,
): Promise<IntentHistory | undefined> {
  const ref = store.refs.intent(specId);
  for (let tries = 1; ; tries += 1) {
    const version = await store.objects.version(ref);
    if (version === undefined) return undefined;
    const paths = (await store.objects.list(ref)).map(({ path }) => path);
    const events = paths.filter((path) => path.startsWith('events/'));
    const files = await store.objects.readMany(ref, ['intent.json', 'spec.json', historyHeadPath, ...events]);
    // Somebody appended while this was read: the parts may be of two versions.
    if ((await store.objects.version(ref)) !== version) {
      if (tries < maxTries) continue;
      throw new WritError('RUN_BUSY', {
        message: `intent \`${specId}\` is busy: other processes keep writing to it`,
        detail: { spec_id: specId },
      });
    }
    return toHistory(store, specId, version, events, files);
  }
}

async function toHistory(
  store: IntentStore,
  specId: string,
  version: string,
  paths: readonly string[],
  files: ReadonlyMap<string, Buffer>,
): Promise<IntentHistory> {
  const intent = files.get('intent.json');
  const spec = files.get('spec.json');
  if (!intent || !spec) throw damaged(specId, 'its spec is missing');
  const { object_id: thread, intentspec_digest: digest } = parseObject('intent', intent);
  const document = parseStrictJson(spec, { code: 'OBJECT_CORRUPT' }).value as IntentSpec;
  const { events, head } = readEvents(specId, paths, files);
  const statusEvent = await findStatusEvent(store, events);
  const status = statusEvent?.status ?? document.lifecycle.status;
  const replans = events.flatMap((event): readonly ChangeLogEntry[] =>
    event.kind === 'replanned'
      ? [
          {
            at: event.created_at,
            by: event.by,
            reason: event.reason,
            diffSummary: event.diff_summary ?? event.reason,
          },
        ]
      : [],
  );
  const changeLog = [...document.lifecycle.changeLog, ...replans];
  return { specId, thread, status, statusEvent, document, digest, events, changeLog, version, head };
}

/**
 * Returns the last event that ended the intent, or else the last one that changed its status. A commit that has not
 * landed does not close an intent. No event may follow an end, except events of another clone in a joined history.
 */
async function findStatusEvent(
  store: IntentStore,
  events: readonly IntentEvent[],
): Promise<IntentEvent | undefined> {
  let last: IntentEvent | undefined;
  for (const event of events.toReversed()) {
    if (event.status === undefined) continue;
    const isEnd = lifecycleMoves[event.status].length === 0;
    if (event.kind === 'closed' && event.run !== undefined && !(await store.hasLanded(event.run))) continue;
    if (isEnd) return event;
    last ??= event;
  }
  return last;
}

function readEvents(
  specId: string,
  paths: readonly string[],
  files: ReadonlyMap<string, Buffer>,
): { readonly events: readonly IntentEvent[]; readonly head: string | undefined } {
  const stated = files.get(historyHeadPath);
  const said = stated ? readHead(specId, stated) : { events: 0, sha256: undefined };
  if (paths.length !== said.events) {
    throw damaged(specId, `expected ${said.events} events, found ${paths.length}`);
  }
  const events: IntentEvent[] = [];
  let head: string | undefined;
  for (let number = 1; number <= said.events; number += 1) {
    const path = intentEventPath(number);
    const bytes = files.get(path);
    if (!bytes) throw damaged(specId, `\`${path}\` is missing`);
    const event = parseObject('intent_event', bytes);
    if (event.external_ids.intentspec_id !== specId)
      throw damaged(specId, `\`${path}\` is of another intent`);
    if (event.external_ids.previous !== head) {
      throw damaged(specId, `\`${path}\` does not follow the event before it`);
    }
    head = sha256Hex(bytes);
    events.push(event);
  }
  if (head !== said.sha256) throw damaged(specId, 'the last event is not the one that was appended');
  return { events, head };
}

function readHead(
  specId: string,
  bytes: Uint8Array,
): { readonly events: number; readonly sha256: string | undefined } {
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT' });
  const { events, sha256 } = (value ?? {}) as { readonly events?: unknown; readonly sha256?: unknown };
  if (Number.isSafeInteger(events) && (events as number) > 0 && typeof sha256 === 'string') {
    return { events: events as number, sha256 };
  }
  throw damaged(specId, `\`${historyHeadPath}\` cannot be read`);
}

function damaged(specId: string, reason: string): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the history of intent \`${specId}\` was altered: ${reason}`,
    detail: { spec_id: specId, reason },
    hints: ['`git log refs/ai/intents/…` shows every version'],
  });
}

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
      ? `intent \`${id}\` is active, but with another document than this one`
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
      ...(last?.run === undefined
        ? []
        : [`\`writ show ${last.run}\` tells whether the commit of that run has landed`]),
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
    hints: ['give the changed spec another `metadata.id`'],
  });
}

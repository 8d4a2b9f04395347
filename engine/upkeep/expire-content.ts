/* Decides when artifact content expires, and removes expired content from git. */
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ObjectStore, OutsideContent } from '../../core/interfaces/store.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { inTemporary } from '../../store/remove-litter.ts';
import { isRunHeld, journalPath, runDirectory } from '../../store/run-directory.ts';
import { parseObject } from '../../store/stored-object.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { askGit, type GitDirectory, gitLine } from '../../workspace/git/git.ts';
import { readEach, readHeads } from '../../workspace/git/read-objects.ts';
import { updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { viewJournal } from '../record/journal-view.ts';
import { waitingPath } from '../record/stored-approvals.ts';
import { isDeletable, ownerKey, type StoredRef } from './stored-ref.ts';
import { walkTrees } from './walk-trees.ts';

const refsAtOnce = 200;
const writ = { name: 'writ', email: 'writ@localhost' };

interface ExpiryRequest {
  readonly clock: Clock;
  readonly dryRun: boolean;
  /** Content that refs only refer to. */
  readonly elsewhere?: OutsideContent | undefined;
}

interface Over {
  readonly content: StoredRef;
  readonly keep: number;
  readonly paths: readonly string[];
  readonly bytes: number;
}

/**
 * Removes expired artifact content by compare-and-swap: the ref is deleted with the last of it; else it moves to a
 * new commit, without parents, of the rest. Content of a run that waits, works or can be resumed here stays. Digests
 * stay in the record.
 */
export async function expireContent(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  how: ExpiryRequest,
): Promise<readonly Removed[]> {
  const { clock } = how;
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [ownerKey(run), run]));
  const owned = refs.filter((ref) => ref.kind === 'content' && runs.has(ownerKey(ref)));
  const removed: Removed[] = [];
  for (let at = 0; at < owned.length; at += refsAtOnce) {
    const chunk = owned.slice(at, at + refsAtOnce);
    const settled: StoredRef[] = [];
    for (const one of chunk) if ((await localStateOf(repository, one.id)) === 'over') settled.push(one);
    const expiryOf = (one: StoredRef): ContentExpiry | undefined =>
      expiries.get(runs.get(ownerKey(one))?.ref ?? '');
    const over = await findOver(repository, settled, expiryOf, clock.now());
    removed.push(...(await removeOver(repository, over, how)));
  }
  return removed;
}

async function findOver(
  repository: Repository,
  refs: readonly StoredRef[],
  expiryOf: (one: StoredRef) => ContentExpiry | undefined,
  nowMs: number,
): Promise<readonly Over[]> {
  const candidates = refs.filter((one) => expiryOf(one) !== undefined);
  const walked = await walkTrees(
    repository,
    candidates.map(({ object }) => object),
    { broken: () => {} },
  );
  const found = candidates.flatMap((content) => {
    // A tree that cannot be read is not known to have expired.
    const commit = walked.get(content.object);
    if (commit === undefined) return [];
    const files = [...commit.files];
    const expiry = expiryOf(content);
    const gone = files.filter(([path]) => nowMs >= (expiry?.expiresAtMs(path) ?? Number.POSITIVE_INFINITY));
    const isEmpty = files.length === 0 && nowMs >= (expiry?.lastMs ?? Number.POSITIVE_INFINITY);
    return gone.length > 0 || isEmpty ? [{ content, keep: files.length - gone.length, gone }] : [];
  });
  const heads = await readHeads(
    repository,
    found.flatMap(({ gone }) => gone.map(([, object]) => object)),
  );
  return found.map(({ content, keep, gone }) => ({
    content,
    keep,
    paths: gone.map(([path]) => path),
    bytes: gone.reduce((sum, [, object]) => sum + (heads.get(object)?.sizeBytes ?? 0), 0),
  }));
}

async function removeOver(
  repository: Repository,
  over: readonly Over[],
  { clock, dryRun, elsewhere }: ExpiryRequest,
): Promise<readonly Removed[]> {
  const removed: Removed[] = [];
  // Before the refs move: while they refer to it, the next gc finds what this one could not delete.
  const sizes = new Map<string, number | undefined>();
  for (const { content, keep, paths } of over)
    sizes.set(content.ref, await elsewhere?.expire(content.ref, keep > 0 ? paths : undefined, dryRun));
  const moves: { readonly one: Over; readonly to: string | undefined }[] = [];
  for (const one of over) {
    const rest = one.keep > 0 && !dryRun ? await commitRest(repository, one, clock.now()) : undefined;
    moves.push({ one, to: rest });
  }
  const stale = dryRun ? new Set<string>() : await moveAll(repository, moves);
  for (const { content, keep, paths, bytes } of over) {
    // Another process wrote it; the next gc decides.
    if (stale.has(content.ref)) continue;
    removed.push({
      kind: 'content',
      where: content.ref,
      runId: content.id,
      ...(keep > 0 ? { files: paths.length } : {}),
      bytes: sizes.get(content.ref) ?? bytes,
    });
  }
  return removed;
}

/** Returns the refs that another process moved first. */
async function moveAll(
  repository: Repository,
  moves: readonly { readonly one: Over; readonly to: string | undefined }[],
): Promise<ReadonlySet<string>> {
  const stale = new Set<string>();
  for (let rest = moves; rest.length > 0; ) {
    const outcome = await updateRefs(
      repository,
      rest.map(({ one, to }) => ({ ref: one.content.ref, old: one.content.object, new: to })),
      'writ: retention is over',
    );
    if (outcome.moved) {
      await forgetReflogs(
        repository,
        rest.filter(({ to }) => to !== undefined).map(({ one }) => one.content.ref),
      );
      break;
    }
    for (const { ref } of outcome.stale) stale.add(ref);
    rest = rest.filter(({ one }) => !stale.has(one.content.ref));
  }
  return stale;
}

/** With `core.logAllRefUpdates = always` the reflog would keep the old version reachable. */
async function forgetReflogs(repository: Repository, refs: readonly string[]): Promise<void> {
  const logged: string[] = [];
  for (const ref of refs)
    if ((await askGit(repository, ['reflog', 'exists', '--end-of-options', ref])).code === 0)
      logged.push(ref);
  if (logged.length > 0)
    await askGit(repository, ['reflog', 'expire', '--expire=all', '--expire-unreachable=all', ...logged]);
}

async function commitRest(repository: Repository, { content, paths }: Over, nowMs: number): Promise<string> {
  return inTemporary(repository, async (directory) => {
    const place = { ...repository, env: { ...repository.env, GIT_INDEX_FILE: join(directory, 'index') } };
    await gitLine(place, ['read-tree', `${content.object}^{tree}`]);
    const input = paths.map((path) => `${path}\0`).join('');
    await gitLine(place, ['update-index', '-z', '--force-remove', '--stdin'], { input });
    return createCommit(repository, {
      tree: await gitLine(place, ['write-tree']),
      parents: [],
      message: `writ: content of run ${content.id} without what expired\n`,
      author: writ,
      committer: writ,
      authoredAtMs: nowMs,
      committedAtMs: nowMs,
    });
  });
}

/** When the content of a decided run expires, in epoch milliseconds. */
export interface ContentExpiry {
  expiresAtMs(path: string): number;
  /** When the last of it expires. */
  readonly lastMs: number;
  /** `objmodel.objectStore.blobRetentionStrategy`, if the record has it. */
  readonly blobStrategy: string | undefined;
}

const dayMs = 86_400_000;
const runsAtOnce = 200;
const finalTypes: readonly string[] = ['commit', 'abandon', 'rollback'];
const maxBytes = 64 * 1024 * 1024;

/**
 * Expiry by run ref, from the run's own record: min(creation + artifacts.days, final Decision + privacy.days). A
 * waiting run, or one with an unreadable record, has no expiry: its content stays.
 */
export async function readExpiries(
  place: GitDirectory,
  runs: readonly StoredRef[],
): Promise<ReadonlyMap<string, ContentExpiry>> {
  const expiries = new Map<string, ContentExpiry>();
  for (let at = 0; at < runs.length; at += runsAtOnce) {
    const chunk = runs.slice(at, at + runsAtOnce);
    const walked = await walkTrees(
      place,
      chunk.map(({ object }) => object),
      { broken: () => {} },
    );
    const wanted = [...walked.values()].flatMap(({ files }) =>
      [...files].flatMap(([path, object]) => (isNeeded(path) ? [object] : [])),
    );
    const bytes = new Map<string, Buffer>();
    await readEach(place, wanted, await readHeads(place, wanted), (id, object) => {
      if (object) bytes.set(id, object.bytes);
    });
    for (const { ref, object } of chunk) {
      const files = new Map<string, Buffer | undefined>();
      for (const [path, id] of walked.get(object)?.files ?? [])
        if (isNeeded(path)) files.set(path, bytes.get(id));
      const expiry = readExpiry(files);
      if (expiry) expiries.set(ref, expiry);
    }
  }
  return expiries;
}

/** `readExpiries` for a store outside of git. */
export async function readStoredExpiries(
  store: Pick<ObjectStore, 'list' | 'readMany'>,
  runs: readonly StoredRef[],
): Promise<ReadonlyMap<string, ContentExpiry>> {
  const expiries = new Map<string, ContentExpiry>();
  for (const { ref } of runs) {
    try {
      const paths = (await store.list(ref)).map(({ path }) => path).filter(isNeeded);
      const expiry = readExpiry(await store.readMany(ref, paths));
      if (expiry) expiries.set(ref, expiry);
    } catch (fault) {
      if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    }
  }
  return expiries;
}

/** Content and context refs, of either side, of runs that were decided here and have completely expired content. */
export async function expiredContent(
  place: GitDirectory,
  here: readonly StoredRef[],
  content: readonly StoredRef[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const runs = new Map(here.filter(({ kind }) => kind === 'run').map((run) => [ownerKey(run), run]));
  const wanted = content.filter(isDeletable);
  const owners = wanted.flatMap((one) => runs.get(ownerKey(one)) ?? []);
  const expiries = await readExpiries(place, [...new Set(owners)]);
  const over = wanted.filter((one) => {
    const expiry = expiries.get(runs.get(ownerKey(one))?.ref ?? '');
    return expiry !== undefined && nowMs >= expiry.lastMs;
  });
  return new Set(over.map(({ ref }) => ref));
}

/** Top-level documents, and all evidence. */
function isNeeded(path: string): boolean {
  const documents: readonly string[] = ['decision.json', sealPaths.rollback, 'effective.json', waitingPath];
  return documents.includes(path) || /(?:^|\/)evidence\/[^/]+\.json$/.test(path);
}

/** `undefined` for a run without a final decision, or with an unreadable file. */
function readExpiry(files: ReadonlyMap<string, Buffer | undefined>): ContentExpiry | undefined {
  if (files.has(waitingPath)) return undefined;
  const decision = files.get(sealPaths.rollback) ?? files.get('decision.json');
  const effective = files.get('effective.json');
  if (!decision || !effective || [...files.values()].includes(undefined)) return undefined;
  try {
    const last = parseObject('decision', decision);
    if (!finalTypes.includes(last.type)) return undefined;
    const spec = parseStrictJson(effective, { code: 'OBJECT_CORRUPT', maxBytes }).value;
    const artifactDays = daysAt(spec, 'artifacts', 'retention', 'days');
    const privacyDays = daysAt(spec, 'constraints', 'privacy', 'retentionDays');
    if (artifactDays === undefined || privacyDays === undefined) return undefined;
    const blobs = ['objmodel', 'objectStore', 'blobRetentionStrategy'].reduce(memberOf, spec);
    const limits = { decidedAtMs: Date.parse(last.created_at), artifactDays, privacyDays };
    return {
      ...expiryOf(limits, shownExpiries(files)),
      blobStrategy: typeof blobs === 'string' ? blobs : undefined,
    };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

interface Limits {
  readonly decidedAtMs: number;
  readonly artifactDays: number;
  readonly privacyDays: number;
}

/** `shown`: the recorded expiry of artifacts by path, which is creation plus the shorter limit. */
export function expiryOf(
  { decidedAtMs, artifactDays, privacyDays }: Limits,
  shown: ReadonlyMap<string, number>,
): Pick<ContentExpiry, 'expiresAtMs' | 'lastMs'> {
  const shorterMs = Math.min(artifactDays, privacyDays) * dayMs;
  const afterDecisionMs = decidedAtMs + privacyDays * dayMs;
  const expiresAtMs = (path: string): number => {
    // An artifact without a date was created at the decision at the latest.
    const createdAtMs = Math.min((shown.get(path) ?? decidedAtMs + shorterMs) - shorterMs, decidedAtMs);
    return Math.min(createdAtMs + artifactDays * dayMs, afterDecisionMs);
  };
  return { expiresAtMs, lastMs: decidedAtMs + shorterMs };
}

/** Path of the content tree → `expiresAt` of its ArtifactRef. */
function shownExpiries(files: ReadonlyMap<string, Buffer | undefined>): ReadonlyMap<string, number> {
  const shown = new Map<string, number>();
  for (const [path, bytes] of files) {
    if (!bytes || !/(?:^|\/)evidence\//.test(path)) continue;
    for (const { key, expiresAt } of parseObject('evidence', bytes).reports) {
      if (expiresAt !== undefined) shown.set(key.slice(key.indexOf(':') + 1), Date.parse(expiresAt));
    }
  }
  return shown;
}

function daysAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = names.reduce(memberOf, value);
  return Number.isSafeInteger(found) && Number(found) >= 0 ? Number(found) : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** Work that this machine has left for a run; `over` also if it never had any. */
type LocalState = 'over' | 'held' | 'unfinished' | 'damaged';

/** `unfinished`: it waits or was stopped and can be resumed; `damaged`: unknown. */
export async function localStateOf(
  repository: Pick<Repository, 'commonDir'>,
  runId: string,
): Promise<LocalState> {
  if (await isRunHeld(runDirectory(repository, runId))) return 'held';
  try {
    const { records } = await readJournal(journalPath(repository, runId));
    return records.length === 0 || viewJournal(records).isFinished ? 'over' : 'unfinished';
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return 'damaged';
    throw fault;
  }
}

export interface Removed {
  /**
   * `content`: expired artifacts; `context`: context blobs of such a run; `run-directory`: local files of an ended
   * run; `workspace`: private directories of ended runs; `temporary`: remains of killed writes; `git-lock`: locks and
   * claims of killed processes.
   */
  readonly kind: 'content' | 'context' | 'run-directory' | 'workspace' | 'temporary' | 'git-lock';
  /** Ref or path. */
  readonly where: string;
  readonly runId?: string;
  /** Number of removed files; absent if all were removed. */
  readonly files?: number;
  readonly bytes: number;
}

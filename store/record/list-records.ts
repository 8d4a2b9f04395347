/* Lists the records of runs and intents, and reads their log proofs. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import { listRefFiles } from '../../workspace/git/ref-files.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { matchRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listRunDirectories, readKeptSpec, runDirectory, specFile } from '../run-directory.ts';
import { joinStores, type OpenStore, openStores, type RunStore, type Stores, storeRefs } from '../stores.ts';
import { parseNamedJson, sealPaths } from './record-paths.ts';

/** A ref with the record of a run or an intent. */
export interface FoundRecord {
  /** Last part of its ref, encoded. */
  readonly id: string;
  readonly prefix: string;
  readonly ref: string;
  /** Commit in git; `undefined` in another store. */
  readonly commit: string | undefined;
}

/** Every record of a kind in the refs of the repository and in its stores outside of git, under any `aiRefPrefix`. */
export async function listRecordRefs(
  repository: Repository,
  stores: readonly Pick<OpenStore, 'beside'>[],
  kind: 'runs' | 'intents',
): Promise<readonly FoundRecord[]> {
  // The prefixes that a spec may use.
  const wanted = new RegExp(`^refs/(?:ai|x-[^/]*)/(?:.+/)?${kind}/[^/]+$`);
  const inGit =
    listRefFiles(repository, isRecordRoot, wanted) ?? (await matchRefs(repository, patternsOf(kind)));
  const beside: { readonly object: undefined; readonly ref: string }[] = [];
  for (const store of stores)
    for (const { ref } of (await store.beside?.list(repository)) ?? [])
      beside.push({ object: undefined, ref });
  const parts = new RegExp(`^(refs/.*)/${kind}/([^/]+)$`);
  const found = new Map<string, FoundRecord>();
  for (const { object: commit, ref } of [...inGit, ...beside]) {
    const [, prefix, id] = parts.exec(ref) ?? [];
    if (prefix === undefined || id === undefined || found.has(ref)) continue;
    found.set(ref, { id, prefix, ref, commit });
  }
  return [...found.values()];
}

function isRecordRoot(name: string): boolean {
  return name === 'ai' || name.startsWith('x-');
}

function patternsOf(kind: string): readonly string[] {
  return ['refs/ai/', 'refs/ai/**/', 'refs/x-*/**/', 'refs/x-*/'].map((under) => `${under}${kind}/*`);
}

export type FoundRun = FoundRecord;

/** `listRecordRefs` for runs, newest first (run ids are time-ordered). */
export async function listRunRefs(
  repository: Repository,
  stores: readonly Pick<OpenStore, 'beside'>[],
): Promise<readonly FoundRun[]> {
  const found = await listRecordRefs(repository, stores, 'runs');
  return found.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

const maxProofBytes = 256 * 1024;

/**
 * The log proofs by the id of their record: the renewed one if there is one. A record without a proof, or with a
 * larger one, has none.
 */
export async function readLogProofs(
  place: GitDirectory,
  records: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const namesOf = (record: string): readonly string[] =>
    [sealPaths.renewedProof, sealPaths.proof].map((path) => `${record}:${path}`);
  const found = await readSmall(place, records.flatMap(namesOf), maxProofBytes);
  return new Map(
    records.flatMap((record) => {
      const [renewed, first] = namesOf(record).map((name) => found.get(name));
      const proof = renewed ?? first;
      return proof === undefined ? [] : [[record, proof] as const];
    }),
  );
}

/* Finds a run by its id or the beginning of it. */

/** RUN_NOT_FOUND, also if several runs match. */
export type FindRun = (wanted: string) => Promise<{ readonly store: RunStore; readonly runId: string }>;

/** Lists the runs once, at the first call: the thousand runs of a range are looked up in one list. */
export function runFinder(stores: Stores, repository: Repository, clock: Clock): FindRun {
  const look = async (): Promise<KnownRuns> => {
    const open = await openStores(stores, repository, clock);
    const refs = await listRunRefs(repository, open);
    const local = (await listRunDirectories(repository)).map((id) => ({ id }));
    const prefixes = new Map<string, Set<string>>();
    for (const { id, prefix } of refs) prefixes.set(id, (prefixes.get(id) ?? new Set()).add(prefix));
    return { open, prefixes, ids: new Set([...local, ...refs].map(({ id }) => id)) };
  };
  let looked: ReturnType<typeof look> | undefined;
  return async (wanted) => {
    looked ??= look();
    return findAmong(repository, await looked, wanted);
  };
}

interface KnownRuns {
  readonly open: readonly OpenStore[];
  readonly ids: ReadonlySet<string>;
  /** Of its refs, by run. */
  readonly prefixes: ReadonlyMap<string, ReadonlySet<string>>;
}

export function findRun(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  wanted: string,
): ReturnType<FindRun> {
  return runFinder(stores, repository, clock)(wanted);
}

async function findAmong(
  repository: Repository,
  { open, ids, prefixes }: KnownRuns,
  wanted: string,
): ReturnType<FindRun> {
  const exact = encodeId(wanted);
  // Anyone can push a run with an id that is the beginning of another: only a complete id is unambiguous.
  const fits =
    ids.has(exact) && wanted.length === 36 && uuidTimeMs(wanted) !== undefined
      ? [exact]
      : [...ids].filter((id) => id === exact || (wanted.length >= 4 && id.startsWith(wanted)));
  const [runId] = fits;
  if (fits.length === 1 && runId !== undefined) {
    const prefix = await prefixOf(repository, runId, [...(prefixes.get(runId) ?? [])]);
    return { store: { objects: joinStores(open), refs: storeRefs(prefix) }, runId };
  }
  throw new WritError('RUN_NOT_FOUND', {
    message:
      fits.length > 1
        ? `\`${wanted}\` is the beginning of ${fits.length} run ids`
        : `no run \`${wanted}\` is stored here`,
    detail: { wanted, fits: fits.slice(0, 10) },
  });
}

/**
 * The prefix of a run: the one in its local spec, whatever a remote sent under another prefix. RUN_NOT_FOUND for
 * several prefixes without a local spec.
 */
async function prefixOf(repository: Repository, id: string, prefixes: readonly string[]): Promise<string> {
  const own = await ownPrefix(repository, id);
  if (own !== undefined) return own;
  const [prefix = 'refs/ai'] = prefixes;
  if (prefixes.length <= 1) return prefix;
  throw new WritError('RUN_NOT_FOUND', {
    message: `run \`${id}\` is stored under ${prefixes.length} prefixes: ${prefixes.map((one) => `\`${one}\``).join(', ')}`,
    detail: { run_id: id, prefixes },
    hints: [`remove the one that you do not mean: \`git update-ref -d ${prefixes.at(-1)}/runs/${id}\``],
  });
}

/** `undefined` if no spec is kept here, or it cannot be read. */
async function ownPrefix(repository: Repository, id: string): Promise<string | undefined> {
  try {
    const bytes = await readKeptSpec(runDirectory(repository, id), id);
    if (bytes === undefined) return undefined;
    const spec = parseNamedJson(specFile, bytes) as {
      readonly objmodel?: { readonly objectStore?: { readonly aiRefPrefix?: unknown } };
    } | null;
    const named = spec?.objmodel?.objectStore?.aiRefPrefix ?? 'refs/ai/';
    return typeof named === 'string' ? named.replace(/\/$/, '') : undefined;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

export async function isRun(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  word: string,
): Promise<boolean> {
  try {
    await findRun(stores, repository, clock, word);
    return true;
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return false;
    throw fault;
  }
}

/* Finds a run by its id or the beginning of it. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listRunDirectories, readKeptSpec, runDirectory, specFile } from '../run-directory.ts';
import { joinStores, type OpenStore, openStores, type RunStore, type Stores, storeRefs } from '../stores.ts';
import { type FoundRun, listRunRefs } from './list-records.ts';
import { parseNamedJson } from './record-files.ts';

/** RUN_NOT_FOUND, also if several runs match. */
export type FindRun = (wanted: string) => Promise<{ readonly store: RunStore; readonly runId: string }>;

/** Lists the runs once, at the first call. */
export function runFinder(stores: Stores, repository: Repository, clock: Clock): FindRun {
  const look = async () => {
    const open = await openStores(stores, repository, clock);
    return { open, refs: await listRunRefs(repository, open) };
  };
  let looked: ReturnType<typeof look> | undefined;
  return async (wanted) => {
    looked ??= look();
    const { open, refs } = await looked;
    return findAmong(repository, open, refs, wanted);
  };
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
  open: readonly OpenStore[],
  refs: readonly FoundRun[],
  wanted: string,
): ReturnType<FindRun> {
  const local = (await listRunDirectories(repository)).map((id) => ({ id, prefix: 'refs/ai' }));
  const all = new Map([...local, ...refs].map((run) => [run.id, run]));
  const exact = all.get(encodeId(wanted));
  // Anyone can push a run whose id is the beginning of another: only a complete id is unambiguous.
  const fits =
    exact && wanted.length === 36 && uuidTimeMs(wanted) !== undefined
      ? [exact]
      : [...all.values()].filter((run) => run === exact || (wanted.length >= 4 && run.id.startsWith(wanted)));
  const [run] = fits;
  if (fits.length === 1 && run) {
    const prefix = await prefixOf(repository, run.id, refs);
    return { store: { objects: joinStores(open), refs: storeRefs(prefix) }, runId: run.id };
  }
  throw new WritError('RUN_NOT_FOUND', {
    message: fits.length > 1 ? `\`${wanted}\` fits ${fits.length} runs` : `no run \`${wanted}\` here`,
    detail: { wanted, fits: fits.slice(0, 10).map(({ id }) => id) },
  });
}

/**
 * The prefix of a run: the one in its local spec, whatever a remote sent under another prefix. RUN_NOT_FOUND for
 * several prefixes without a local spec.
 */
async function prefixOf(repository: Repository, id: string, refs: readonly FoundRun[]): Promise<string> {
  const own = await ownPrefix(repository, id);
  if (own !== undefined) return own;
  const prefixes = [...new Set(refs.filter((ref) => ref.id === id).map(({ prefix }) => prefix))];
  const [prefix = 'refs/ai'] = prefixes;
  if (prefixes.length <= 1) return prefix;
  throw new WritError('RUN_NOT_FOUND', {
    message: `run \`${id}\` is stored under ${prefixes.length} prefixes: ${prefixes.map((one) => `\`${one}\``).join(', ')}`,
    detail: { run_id: id, prefixes },
    hints: [`remove the one that is not meant: \`git update-ref -d ${prefixes.at(-1)}/runs/${id}\``],
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

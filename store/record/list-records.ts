/* Lists the records of runs and intents, and reads their log proofs. */
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import { listRefFiles } from '../../workspace/git/ref-files.ts';
import { matchRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { OpenStore } from '../stores.ts';
import { sealPaths } from './record-files.ts';

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
    (await listRefFiles(repository, isRecordRoot, wanted)) ?? (await matchRefs(repository, patternsOf(kind)));
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

import { runGit } from '../../workspace/git/git.ts';
import { type ListedRef, listRefFiles } from '../../workspace/git/list-ref-files.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { OpenStore } from '../open-stores.ts';

/** A record on a ref: a run, an intent. */
export interface FoundRecord {
  /** Last part of its ref, encoded. */
  readonly id: string;
  readonly prefix: string;
  readonly ref: string;
  /** Commit in git; `undefined` in a store beside it. */
  readonly commit: string | undefined;
}

/** Every record of a kind in the repository's refs and in its stores beside git, under whatever `aiRefPrefix`. */
export async function listRecordRefs(
  repository: Repository,
  stores: readonly Pick<OpenStore, 'beside'>[],
  kind: 'runs' | 'intents',
): Promise<readonly FoundRecord[]> {
  // The contract allows prefixes below these (resolutions, Semantic rules).
  const wanted = new RegExp(`^refs/(?:ai|x-[^/]*)/(?:.+/)?${kind}/[^/]+$`);
  const inGit = (await listRefFiles(repository, isRecordRoot, wanted)) ?? (await listByGit(repository, kind));
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

async function listByGit(repository: Repository, kind: string): Promise<readonly ListedRef[]> {
  const patterns = ['refs/ai/', 'refs/ai/**/', 'refs/x-*/**/', 'refs/x-*/'].map(
    (under) => `${under}${kind}/*`,
  );
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...patterns];
  const listed = (await runGit(repository, args)).toString('utf8').split('\n');
  return listed.map((line) => ({
    object: line.slice(0, line.indexOf(' ')),
    ref: line.slice(line.indexOf(' ') + 1),
  }));
}

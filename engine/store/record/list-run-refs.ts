import { runGit } from '../../vcs/git.ts';
import { type ListedRef, listRefFiles } from '../../vcs/list-ref-files.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { OpenStore } from '../open-stores.ts';

/** Where runs of any `aiRefPrefix` are: the contract allows prefixes below these (resolutions, Semantic rules). */
const runPatterns = ['refs/ai/runs/*', 'refs/ai/**/runs/*', 'refs/x-*/**/runs/*', 'refs/x-*/runs/*'];
const runRef = /^refs\/(?:ai|x-[^/]*)\/(?:.+\/)?runs\/[^/]+$/;

/** A run that the repository keeps a record of. */
export interface FoundRun {
  readonly id: string;
  readonly prefix: string;
  readonly ref: string;
  /** Commit in git; `undefined` in a store beside it. */
  readonly commit: string | undefined;
}

/** Every run in the repository's refs and in its stores beside git, newest first (run ids are time-ordered). */
export async function listRunRefs(
  repository: Repository,
  stores: readonly Pick<OpenStore, 'beside'>[],
): Promise<readonly FoundRun[]> {
  const inGit = (await listRefFiles(repository, isRunRoot, runRef)) ?? (await listByGit(repository));
  const beside: { readonly object: undefined; readonly ref: string }[] = [];
  for (const store of stores)
    for (const { ref } of (await store.beside?.list(repository)) ?? [])
      beside.push({ object: undefined, ref });
  const found = new Map<string, FoundRun>();
  for (const { object: commit, ref } of [...inGit, ...beside]) {
    const parts = /^(refs\/.*)\/runs\/([^/]+)$/.exec(ref);
    if (!parts || found.has(ref)) continue;
    found.set(ref, { id: parts[2] ?? '', prefix: parts[1] ?? '', ref, commit });
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

function isRunRoot(name: string): boolean {
  return name === 'ai' || name.startsWith('x-');
}

async function listByGit(repository: Repository): Promise<readonly ListedRef[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...runPatterns];
  const listed = (await runGit(repository, args)).toString('utf8').split('\n');
  return listed.map((line) => ({
    object: line.slice(0, line.indexOf(' ')),
    ref: line.slice(line.indexOf(' ') + 1),
  }));
}

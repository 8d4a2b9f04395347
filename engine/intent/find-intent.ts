import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ObjectStore } from '../../core/contract/object-store.ts';
import { openExternalLocalStore } from '../store/external-local-store.ts';
import { openGitNativeStore } from '../store/git-native-store.ts';
import { listExternalLocalRefs } from '../store/list-external-local-refs.ts';
import type { RunStore } from '../store/run-store.ts';
import { storeRefs } from '../store/store-refs.ts';
import { runGit } from '../vcs/git.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';

/**
 * Where the intent of that `metadata.id` is recorded, under whatever `aiRefPrefix`, in git or in store `external-local`; `undefined` where it is not. In
 * several places it is INTENT_NOT_FOUND: a file says which one is meant.
 */
export async function findIntent(
  repository: Repository,
  clock: Clock,
  specId: string,
): Promise<RunStore | undefined> {
  const name = `intents/${encodeId(specId)}`;
  const found = [...(await inGit(repository, clock, name)), ...(await beside(repository, clock, name))];
  const [only] = found;
  if (only === undefined) return undefined;
  if (found.length > 1) {
    throw new WritError('INTENT_NOT_FOUND', {
      message: `intent \`${specId}\` is recorded in ${found.length} places`,
      detail: { spec_id: specId, refs: found.map(({ ref }) => ref), stores: found.map(({ store }) => store) },
      hints: ['name the specification file instead: its `objmodel.objectStore` says which one is meant'],
    });
  }
  return { objects: only.objects, refs: storeRefs(only.ref.slice(0, -name.length)) };
}

interface Place {
  readonly ref: string;
  readonly store: 'git-native' | 'external-local';
  readonly objects: ObjectStore;
}

async function inGit(repository: Repository, clock: Clock, name: string): Promise<readonly Place[]> {
  const listed = await runGit(repository, [
    'for-each-ref',
    '--format=%(refname)',
    '--end-of-options',
    `refs/ai/${name}`,
    `refs/ai/**/${name}`,
    `refs/x-*/${name}`,
    `refs/x-*/**/${name}`,
  ]);
  const refs = listed.toString('utf8').split('\n');
  const objects = openGitNativeStore(repository, { clock });
  return [...new Set(refs.filter((ref) => ref.endsWith(`/${name}`)))].map((ref) => ({
    ref,
    store: 'git-native',
    objects,
  }));
}

async function beside(repository: Repository, clock: Clock, name: string): Promise<readonly Place[]> {
  const refs = await listExternalLocalRefs(repository);
  const fitting = refs.filter(({ ref }) => /^refs\/(?:ai|x-[^/]*)\//.test(ref) && ref.endsWith(`/${name}`));
  if (fitting.length === 0) return [];
  const objects = openExternalLocalStore(repository, { clock });
  return fitting.map(({ ref }) => ({ ref, store: 'external-local', objects }));
}

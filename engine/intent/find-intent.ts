import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type OpenStore, openStores, type Stores } from '../store/open-stores.ts';
import { storeRefs } from '../store/store-refs.ts';
import { runGit } from '../vcs/git.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';
import { type IntentRunStore, withLandings } from './open-run-store.ts';

/**
 * Where the intent of that `metadata.id` is recorded, under whatever `aiRefPrefix`, in whichever store; `undefined`
 * where it is not. In several places it is INTENT_NOT_FOUND: a file says which one is meant.
 */
export async function findIntent(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  specId: string,
): Promise<IntentRunStore | undefined> {
  const name = `intents/${encodeId(specId)}`;
  const found: Place[] = [];
  for (const store of await openStores(stores, repository, clock)) {
    const refs = await (store.beside ? beside(repository, store.beside, name) : inGit(repository, name));
    for (const ref of refs) found.push({ ref, store });
  }
  const [only] = found;
  if (only === undefined) return undefined;
  if (found.length > 1) {
    throw new WritError('INTENT_NOT_FOUND', {
      message: `intent \`${specId}\` is recorded in ${found.length} places`,
      detail: {
        spec_id: specId,
        refs: found.map(({ ref }) => ref),
        stores: found.map(({ store }) => store.name),
      },
      hints: ['name the specification file instead: its `objmodel.objectStore` says which one is meant'],
    });
  }
  const refs = storeRefs(only.ref.slice(0, -name.length));
  return withLandings(repository, { objects: only.store.objects, refs });
}

interface Place {
  readonly ref: string;
  readonly store: OpenStore;
}

async function inGit(repository: Repository, name: string): Promise<readonly string[]> {
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
  return [...new Set(refs.filter((ref) => ref.endsWith(`/${name}`)))];
}

async function beside(
  repository: Repository,
  store: Required<OpenStore>['beside'],
  name: string,
): Promise<readonly string[]> {
  const refs = (await store.list(repository)).map(({ ref }) => ref);
  return refs.filter((ref) => /^refs\/(?:ai|x-[^/]*)\//.test(ref) && ref.endsWith(`/${name}`));
}

import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import type { RunStore } from '../run/run-store.ts';
import { openGitNativeStore } from '../store/git-native-store.ts';
import { storeRefs } from '../store/store-refs.ts';
import { runGit } from '../vcs/git.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';

/**
 * Where the intent of that `metadata.id` is recorded, under whatever `aiRefPrefix`; `undefined` where it is not. Under several prefixes it
 * is INTENT_NOT_FOUND: a file says which one is meant.
 */
export async function findIntent(
  repository: Repository,
  clock: Clock,
  specId: string,
): Promise<RunStore | undefined> {
  const name = `intents/${encodeId(specId)}`;
  const listed = await runGit(repository, [
    'for-each-ref',
    '--format=%(refname)',
    '--end-of-options',
    `refs/ai/${name}`,
    `refs/ai/**/${name}`,
    `refs/x-*/${name}`,
    `refs/x-*/**/${name}`,
  ]);
  const refs = [
    ...new Set(
      listed
        .toString('utf8')
        .split('\n')
        .filter((ref) => ref.endsWith(`/${name}`)),
    ),
  ];
  const [ref] = refs;
  if (ref === undefined) return undefined;
  if (refs.length > 1) {
    throw new WritError('INTENT_NOT_FOUND', {
      message: `intent \`${specId}\` is recorded under ${refs.length} prefixes`,
      detail: { spec_id: specId, refs },
      hints: ['name the specification file instead: its `aiRefPrefix` says which one is meant'],
    });
  }
  const prefix = ref.slice(0, -name.length);
  return { objects: openGitNativeStore(repository, { clock }), refs: storeRefs(prefix) };
}

import { join } from 'node:path';
import type { Repository } from '../vcs/repository.ts';
import { openLocalRefs } from './local/local-refs.ts';

/** Every ref of store `external-local`, whatever its prefix, sorted by name. */
export async function listExternalLocalRefs(
  repo: Pick<Repository, 'commonDir'>,
): Promise<readonly { readonly ref: string; readonly version: string }[]> {
  return openLocalRefs(join(repo.commonDir, 'writ', 'store')).list();
}

import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../core/base/files.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';

/** A private git directory over the repository's objects that has only the refs of one transfer. */
export interface RefView extends AsyncDisposable {
  readonly place: Scratch;
  /** Replaces all refs. */
  setRefs(refs: readonly { readonly ref: string; readonly object: string }[]): Promise<void>;
}

/**
 * Opens a view to push from or fetch into. git compares every named ref with all remote refs, so 10,000 names need
 * minutes; the pattern `refs/*` over a view needs seconds. Fetched refs also stay separate until they are validated.
 * Remotes and connection settings of the repository's config apply.
 */
export async function openRefView(network: GitDirectory, repository: Repository): Promise<RefView> {
  const dir = await makeTemporary(repository);
  const scratch = await createScratch(dir, repository);
  const config = join(dir, 'config');
  // Before our own lines, so that those win.
  const own = await readFile(config, 'utf8');
  await writeFile(config, `[include]\n\tpath = ${quoted(join(repository.commonDir, 'config'))}\n`);
  await appendFile(config, own);
  // Without it, each side assumes that the history behind the cut of a shallow clone is here.
  await copyFile(join(repository.commonDir, 'shallow'), join(dir, 'shallow')).catch(absent);
  const { GIT_WORK_TREE: _, ...env } = network.env;
  const place: Scratch = {
    ...scratch,
    cwd: network.cwd,
    env: { ...env, GIT_DIR: dir },
    settings: [...network.settings, ...scratch.settings, ['fetch.unpackLimit', '100']],
  };
  return {
    place,
    async setRefs(refs) {
      const lines = [...refs]
        .sort((a, b) => (a.ref < b.ref ? -1 : 1))
        .map(({ ref, object }) => `${object} ${ref}\n`);
      await writeFile(join(dir, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`);
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Quotes a git config value. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

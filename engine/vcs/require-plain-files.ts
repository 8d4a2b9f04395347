import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';

/** Files of a git directory that git reads to their end before it looks up an object. */
const read = [
  'packed-refs',
  'shallow',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/commit-graph',
  'objects/pack/multi-pack-index',
];

/**
 * Refuses with GIT_FAILED a git directory in which one of these is a pipe, a socket or a device, itself or by a link:
 * git, and we, would wait for it for ever, or read it until no memory is left. A link to a file is as good as the file;
 * what is not there is fine.
 */
export async function requirePlainFiles(commonDir: string): Promise<void> {
  await Promise.all(
    read.map(async (name) => {
      const found = await stat(join(commonDir, name)).catch(() => undefined);
      if (found === undefined || found.isFile() || found.isDirectory()) return;
      throw new WritError('GIT_FAILED', {
        message: `expected \`${name}\` in the git directory to be a file, found a pipe, a socket or a device`,
        detail: { path: name },
      });
    }),
  );
}

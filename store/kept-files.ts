import { statSync } from 'node:fs';

/**
 * Remembers which files stand at `paths` now. Each call answers with the first path at which that file stands no
 * longer: removed or replaced, while whoever has it open goes on writing to a file without a name.
 */
export function keepFiles(paths: readonly string[]): () => string | undefined {
  const files = paths.map((path) => ({ path, identity: identityOf(path) }));
  return () => files.find(({ path, identity }) => identityOf(path) !== identity)?.path;
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

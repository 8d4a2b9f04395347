import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sample } from '../../engine/sample.ts';
import { outputOf } from '../../starter/run-program.ts';

/** Changes a word of what a run has as evidence, as whoever may write the repository can; answers with what undoes it. */
export function alterEvidence(
  { root, home, env }: Sample,
  run: string,
  path: string,
  [from, to]: readonly [string, string] = ['"duration_ms":', '"duration_ms":1'],
): () => void {
  const ref = `refs/ai/runs/${run}`;
  const git = (...args: string[]): string =>
    outputOf('git', args, { cwd: root, env: { ...env, GIT_INDEX_FILE: join(home, 'altered-index') } })
      .toString()
      .trim();
  const before = git('rev-parse', ref);
  const file = join(home, 'altered.json');
  writeFileSync(file, git('cat-file', 'blob', `${ref}:${path}`).replace(from, to));
  git('read-tree', ref);
  git('update-index', '--cacheinfo', `100644,${git('hash-object', '-w', file)},${path}`);
  git('update-ref', ref, git('commit-tree', git('write-tree'), '-m', 'altered'));
  return () => void git('update-ref', ref, before);
}

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PatchSet } from '../../../core/interfaces/patch-set.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { type Base, resolveBase } from '../../../workspace/git/resolve-commit.ts';
import { createScratch, type Scratch } from '../../../workspace/git/scratch.ts';
import { patchFromBytes } from '../../../workspace/patch/read-patch.ts';
import { makeRepository, type SampleRepository } from '../git/sample-repository.ts';

/** A repository at its HEAD with a scratch over it; `apply` runs a patch in it. */
export interface Bench {
  readonly sample: SampleRepository;
  readonly repo: Repository;
  readonly scratch: Scratch;
  readonly base: Base;
  apply(patch: string | Uint8Array): Promise<PatchSet>;
}

const made: string[] = [];
process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** A directory outside any repository, removed when the test ends. */
export function freshDirectory(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-vcs-')));
  made.push(dir);
  return dir;
}

export async function benchFor(sample: SampleRepository): Promise<Bench> {
  const repo = await openRepository(sample.dir);
  const base = await resolveBase(repo, 'HEAD');
  const scratch = await createScratch(join(freshDirectory(), 'scratch'), repo);
  return {
    sample,
    repo,
    base,
    scratch,
    apply: (patch) => patchFromBytes(scratch, base, typeof patch === 'string' ? Buffer.from(patch) : patch),
  };
}

export async function makeBench(
  ...commits: readonly Parameters<SampleRepository['commit']>[0][]
): Promise<Bench> {
  const sample = makeRepository(freshDirectory());
  for (const files of commits) sample.commit(files);
  return benchFor(sample);
}

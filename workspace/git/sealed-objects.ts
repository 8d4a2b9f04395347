import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { runGit } from './git.ts';
import { askObjects } from './object-reader.ts';
import { createScratch, type Scratch } from './scratch.ts';

/** An object store of its own, and where its history was cut. */
export interface SealedObjects extends Scratch {
  /** Commits in it whose parents are not (git: `shallow`). */
  readonly shallow: readonly string[];
}

export interface SealRequest {
  /** Its history comes with it; `undefined` for none. */
  readonly commit: string | undefined;
  /** How many commits deep, from 1: the commit itself. */
  readonly history: number;
  /** Further trees. */
  readonly trees: readonly string[];
}

const maxCommitBytes = 16 * 1024 * 1024;

/**
 * Makes a bare git directory at `dir` (expected absent) that holds what is reachable from the commit, as deep as asked,
 * and from the trees, and nothing else of `from`: no alternates, no refs, no config of the person's. Where `from` is
 * shallow itself, its history ends there.
 */
export async function sealObjects(
  from: Scratch,
  dir: string,
  { commit, history, trees }: SealRequest,
): Promise<SealedObjects> {
  const shallow = commit === undefined ? [] : await findBoundary(from, commit, history);
  const sealed = await createScratch(dir, from);
  if (shallow.length > 0) await writeShallow(dir, shallow);
  const wanted = [...(commit === undefined ? [] : [commit]), ...trees];
  // What a partial clone does not have is not asked of anybody's remote: the export says it where it is needed.
  await runGit(
    sealed,
    [
      'pack-objects',
      '--quiet',
      '--revs',
      '--non-empty',
      '--missing=allow-any',
      // What is packed well already stays so; looking for more would cost more than it saves.
      '--window=0',
      '--delta-base-offset',
      join(sealed.objectsDir, 'pack', 'pack'),
    ],
    { input: `${wanted.join('\n')}\n` },
  );
  await rm(join(sealed.objectsDir, 'info', 'alternates'));
  return { ...sealed, borrowed: [], shallow };
}

/** Tells git where the history of a git directory was cut. */
export async function writeShallow(gitDir: string, shallow: readonly string[]): Promise<void> {
  await writeFile(join(gitDir, 'shallow'), `${shallow.join('\n')}\n`);
}

/** Commits with parents at the given depth, and before it those of which a parent is not there. */
async function findBoundary(from: Scratch, commit: string, history: number): Promise<readonly string[]> {
  const parents = new Map<string, readonly string[]>();
  const missing = new Set<string>();
  const boundary = new Set<string>();
  let level: readonly string[] = [commit];
  for (let depth = 1; depth <= history && level.length > 0; depth += 1) {
    const next = new Set<string>();
    await askObjects(from, {
      names: level,
      command: 'contents',
      maxBytes: maxCommitBytes,
      take: (index, answer) => {
        const id = level[index] ?? '';
        if (answer === undefined) {
          missing.add(id);
          return;
        }
        const found = parentsOf(answer.bytes ?? Buffer.alloc(0));
        parents.set(id, found);
        if (depth === history && found.length > 0) boundary.add(id);
        for (const parent of found) next.add(parent);
      },
    });
    level = [...next].filter((id) => !parents.has(id));
  }
  if (missing.has(commit)) throw new WritError('REF_NOT_FOUND', { detail: { ref: commit } });
  for (const [id, ofIt] of parents) if (ofIt.some((parent) => missing.has(parent))) boundary.add(id);
  return [...boundary].sort();
}

function parentsOf(commit: Buffer): readonly string[] {
  const end = commit.indexOf('\n\n');
  const head = commit.toString('latin1', 0, end < 0 ? commit.length : end);
  return head.split('\n').flatMap((line) => /^parent ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []);
}

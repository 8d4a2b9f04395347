/* Makes the canonical patch between two trees. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { ChangeType, PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import { gitFailed, runGit, startGit, withGit } from '../git/git.ts';
import type { Base } from '../git/resolve-commit.ts';
import type { Scratch } from '../git/scratch.ts';
import { requirePatchPath } from './patch-paths.ts';

/** Largest accepted patch, and largest normalised diff. */
export const maxPatchBytes = 256 * 1024 * 1024;

/** Keep the user's configuration from changing the form of a diff, or starting a program for it. */
export const plainDiffFlags: readonly string[] = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** Fixes every option that could change a byte of the diff; no config or attribute applies in a scratch. */
const diffFlags: readonly string[] = [
  '-r',
  ...plainDiffFlags,
  '--diff-algorithm=myers',
  '--indent-heuristic',
  '--full-index',
  '--inter-hunk-context=0',
  '--ignore-submodules=none',
  '--submodule=short',
];
/** These also print the patch text, so the listing must not have them. */
const textFlags: readonly string[] = ['--binary', '--unified=3'];
const renameFlags: readonly string[] = ['--find-renames=50%', '-l1000', '--no-rename-empty'];

/**
 * The PatchSet from base to candidate tree, as git computes it, whatever the incoming patch looked like. Same trees,
 * same bytes. PATCH_EMPTY, INPUT_TOO_LARGE, and refused paths.
 */
export async function normalisePatch(scratch: Scratch, base: Base, candidateTree: string): Promise<PatchSet> {
  if (candidateTree === base.tree) throw new WritError('PATCH_EMPTY', { detail: { tree: candidateTree } });
  const trees = ['--end-of-options', base.tree, candidateTree];
  const listing = ['diff-tree', ...diffFlags, ...renameFlags, '-z', '--raw', '--numstat', ...trees];
  const [listed, diff] = await bothOf(
    runGit(scratch, listing, { maxBytes: maxPatchBytes }),
    readDiff(scratch, [...diffFlags, ...renameFlags, ...trees]),
  );
  const changes = parseChanges(listed);
  for (const change of changes) {
    requirePatchPath(change.path);
    if (change.oldPath !== undefined) requirePatchPath(change.oldPath);
  }
  return {
    digest: createHash('sha256').update(diff).digest('hex'),
    baseCommit: base.commit,
    baseTree: base.tree,
    candidateTree,
    format: 'GitDiff',
    files: withRanges(changes, Buffer.from(diff.buffer)),
    diff,
  };
}

/** Both have ended when it settles; the fault of the first comes first. */
async function bothOf<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

/** Through a file into shared memory: the diff is in memory only once, and git is stopped at the size limit. */
async function readDiff(scratch: Scratch, args: readonly string[]): Promise<Uint8Array<SharedArrayBuffer>> {
  // Tasks share a scratch, so each diff has its own file.
  const path = join(scratch.gitDir, `patch-${randomOctets(8).toString('hex')}.diff`);
  const file = await open(path, 'w+', 0o600);
  try {
    const size = await writeDiff(scratch, args, file);
    const bytes = new Uint8Array(new SharedArrayBuffer(size));
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(size - at, 8 * 1024 * 1024), at);
      if (bytesRead === 0)
        throw new WritError('GIT_FAILED', {
          message: 'the diff ended early',
          detail: { command: 'diff-tree' },
        });
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

async function writeDiff(scratch: Scratch, args: readonly string[], file: FileHandle): Promise<number> {
  const command = ['diff-tree', '-p', ...textFlags, ...args];
  const git = startGit(scratch, command);
  git.stdin.end();
  let size = 0;
  try {
    for await (const chunk of git.stdout) {
      size += chunk.length;
      if (size > maxPatchBytes) throw patchTooLarge(size);
      await file.writeFile(chunk);
    }
  } catch (fault) {
    git.kill();
    throw fault;
  }
  const { code, stderr } = await withGit(() => git.exited);
  if (code !== 0) throw gitFailed(command, code, stderr.toString('utf8').slice(0, 2000));
  return size;
}

/** INPUT_TOO_LARGE for a patch of `sizeBytes`. */
export function patchTooLarge(sizeBytes: number): WritError {
  return new WritError('INPUT_TOO_LARGE', {
    message: `expected a patch of at most ${maxPatchBytes} bytes, found ${sizeBytes}`,
    detail: { maxBytes: maxPatchBytes, sizeBytes },
  });
}

/** A PatchFile without its range in the diff. `sections`: the number of its `diff --git` sections. */
type Change = Omit<PatchFile, 'start' | 'end'> & { readonly sections: number };

/** Reads `git diff-tree -r -z --raw --numstat`: all raw records, then all counts, both in the order of the diff. */
function parseChanges(listed: Buffer): readonly Change[] {
  const fields = listed.toString('utf8').split('\0');
  const changes: Change[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', status = ''] = (fields[at] ?? '')
      .slice(1)
      .split(' ');
    const isPair = status.startsWith('R') || status.startsWith('C');
    const first = fields[at + 1];
    const path = isPair ? fields[at + 2] : first;
    if (first === undefined || path === undefined) throw unreadable();
    changes.push({
      path,
      ...(isPair ? { oldPath: first } : {}),
      changeType: changeTypeOf(status, oldBlob === newBlob),
      ...(status === 'A' ? {} : { oldMode, oldBlob }),
      ...(status === 'D' ? {} : { newMode, newBlob }),
      binary: false,
      linesAdded: 0,
      linesDeleted: 0,
      sections: status === 'T' ? 2 : 1,
    });
    at += isPair ? 3 : 2;
  }
  for (const [index, change] of changes.entries()) {
    const counts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at] ?? '');
    if (!counts) throw unreadable();
    // The names of a pair are two fields behind an empty one.
    at += counts[3] === '' ? 3 : 1;
    const binary = counts[1] === '-';
    changes[index] = {
      ...change,
      binary,
      linesAdded: binary ? 0 : Number(counts[1]),
      linesDeleted: binary ? 0 : Number(counts[2]),
    };
  }
  if (fields.slice(at).some((field) => field !== '')) throw unreadable();
  return changes;
}

/**
 * Adds the byte range of each change in the diff. No content line can begin with `diff --git `: hunk lines begin with
 * a blank, sign or backslash, and git's base 85 has no blank.
 */
function withRanges(changes: readonly Change[], diff: Buffer): readonly PatchFile[] {
  const starts: number[] = [];
  const header = Buffer.from('\ndiff --git ');
  if (diff.subarray(0, header.length - 1).equals(header.subarray(1))) starts.push(0);
  for (let at = diff.indexOf(header); at >= 0; at = diff.indexOf(header, at + 1)) starts.push(at + 1);
  let next = 0;
  const files = changes.map(({ sections, ...change }) => {
    const start = starts[next];
    if (start === undefined) throw unreadable();
    next += sections;
    return { ...change, start, end: starts[next] ?? diff.length };
  });
  if (next !== starts.length) throw unreadable();
  return files;
}

function changeTypeOf(status: string, isSameContent: boolean): ChangeType {
  switch (status[0]) {
    case 'A':
      return 'add';
    case 'D':
      return 'delete';
    case 'R':
      return 'rename';
    case 'C':
      return 'copy';
    default:
      return isSameContent ? 'mode' : 'modify';
  }
}

function unreadable(): WritError {
  return new WritError('GIT_FAILED', {
    message: '`git diff-tree` answered in an unknown form',
    detail: { command: 'diff-tree' },
  });
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSection } from '../../readers/diff/read-sections.ts';
import { askGit, gitLine, runGit } from '../vcs/git.ts';
import type { Scratch } from '../vcs/scratch.ts';
import { strippedNames } from './strip-level.ts';

/**
 * Applies a patch to a tree with git itself, in a private index and without fuzz, and answers the resulting tree.
 * PATCH_MALFORMED, PATCH_DOES_NOT_APPLY (detail: path, line, hunk) or PATCH_ESCAPES_REPOSITORY, as git judged it.
 */
export async function applyPatch(
  scratch: Scratch,
  baseTree: string,
  patch: Buffer,
  sections: readonly PatchSection[],
  level: 0 | 1,
): Promise<string> {
  // Of its own: Tasks are applied side by side, and a killed process leaves its lock.
  const index = join(scratch.gitDir, `index.apply-${randomOctets(8).toString('hex')}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    await runGit(scratch, ['read-tree', baseTree], { env });
    const args = ['apply', '--cached', `-p${level}`, '--whitespace=nowarn', '-'];
    const { code, stderr } = await askGit(scratch, args, { env, input: patch });
    if (code !== 0) throw applyFault(stderr, code, sections, level);
    return await gitLine(scratch, ['write-tree'], { env });
  } finally {
    for (const path of [index, `${index}.lock`]) await rm(path, { force: true });
  }
}

/** What git says of a change of mode that does not begin where the file is, and it names the file in no fixed place. */
const otherMode = 'does not match old mode';

function applyFault(
  stderr: string,
  exitCode: number,
  sections: readonly PatchSection[],
  level: 0 | 1,
): WritError {
  const lines = stderr.split('\n').filter((line) => line.startsWith('error: ') || line.startsWith('fatal: '));
  const reason = printable(lines[0]?.replace(/^(error|fatal): /, '') ?? stderr.trim());
  const leaving = lines.find((line) => /invalid path '|is beyond a symbolic link/.test(line));
  if (leaving !== undefined) {
    const path = /'(.*)'/.exec(leaving)?.[1];
    return new WritError('PATCH_ESCAPES_REPOSITORY', {
      message: printable(leaving.replace(/^\w+: /, '')),
      detail: { path: printable(path ?? '') },
    });
  }
  const failed = /^error: patch failed: (.*):(\d+)$/m.exec(stderr);
  if (failed) {
    const [, path = '', at = '0'] = failed;
    return doesNotApply(reason, { path: printable(path), ...hunkAt(sections, level, path, Number(at)) });
  }
  const about =
    /^error: (.*?): (?:does not exist in index|already exists in index|does not match index|wrong type|patch does not apply)/m.exec(
      stderr,
    );
  if (about) return doesNotApply(reason, { path: printable(about[1] ?? '') });
  if (stderr.includes(otherMode)) return doesNotApply(reason, {});
  const line = /at line (\d+)|\(line (\d+)\)/.exec(stderr);
  const detail = line ? { reason, line: Number(line[1] ?? line[2]) } : { reason };
  return new WritError('PATCH_MALFORMED', {
    message: `the patch cannot be read: ${reason}`,
    detail: { ...detail, exitCode },
  });
}

function doesNotApply(reason: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('PATCH_DOES_NOT_APPLY', {
    message: `the patch does not apply: ${reason}`,
    detail: { ...detail, reason },
    // Nothing of the file is in it: git says no more than that it differs.
    ...(reason.includes('without full index line')
      ? { hints: ['make it with what binary files hold: `git diff --binary`'] }
      : {}),
  });
}

/** Git names the hunk by its first line in the old file; people count hunks. */
function hunkAt(
  sections: readonly PatchSection[],
  level: 0 | 1,
  path: string,
  oldStart: number,
): Record<string, number> {
  for (const section of sections) {
    if (!strippedNames(section, level).includes(path)) continue;
    const index = section.hunks.findIndex((hunk) => hunk.oldStart === oldStart);
    const hunk = section.hunks[index];
    if (hunk) return { oldStart, hunk: index + 1, patchLine: hunk.line };
  }
  return { oldStart };
}

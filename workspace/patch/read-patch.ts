/* Reads the patch of a run, from bytes or from a range of commits. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { type PatchSection, readSections } from '../../readers/diff/read-sections.ts';
import { askGit, type GitDirectory, gitLine, runGit } from '../git/git.ts';
import { describeObjects } from '../git/read-objects.ts';
import type { Repository } from '../git/repository.ts';
import { type Base, mergeBase, resolveCommit, shallowHints, treeOf } from '../git/resolve-commit.ts';
import type { Scratch } from '../git/scratch.ts';
import { countChangedPaths } from '../git/tree.ts';
import { maxPatchBytes, normalisePatch, patchTooLarge } from './normalise.ts';
import { requirePatchPath } from './patch-paths.ts';

/**
 * Reads a patch (git diff, plain unified with or without prefixes, `format-patch` mail; one or several) and applies
 * it to the base in `scratch`, which keeps the candidate's objects. At most 256 MiB. PATCH_EMPTY, PATCH_MALFORMED,
 * PATCH_DOES_NOT_APPLY, PATCH_ESCAPES_REPOSITORY, PATCH_TOUCHES_STATE, INPUT_TOO_LARGE.
 */
export async function patchFromBytes(scratch: Scratch, base: Base, bytes: Uint8Array): Promise<PatchSet> {
  if (bytes.length > maxPatchBytes) throw patchTooLarge(bytes.length);
  const patch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBlank(patch)) throw new WritError('PATCH_EMPTY', { message: 'the patch is empty' });
  const sections = readSections(patch);
  if (sections.length === 0) {
    throw new WritError('PATCH_MALFORMED', {
      message: 'the input holds no unified diff and no git diff',
      ...(isEncodedMail(patch)
        ? { hints: ['the mail is encoded: decode it with `git mailinfo` first'] }
        : {}),
    });
  }
  const level = pickStripLevel(sections, await existingAt(scratch, base.tree, sections));
  for (const section of sections) for (const name of strippedNames(section, level)) requirePatchPath(name);
  const candidate = await applyPatch(scratch, base.tree, patch, sections, level);
  return normalisePatch(scratch, base, candidate);
}

/** The names in a patch, with and without their first directory; not validated. */
export function pathsNamed(bytes: Uint8Array): readonly string[] {
  const sections = readSections(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const levels = [0, 1] as const;
  return [...new Set(sections.flatMap((one) => levels.flatMap((level) => strippedNames(one, level))))];
}

function isBlank(patch: Buffer): boolean {
  return patch.every((octet) => octet === 32 || (octet >= 9 && octet <= 13));
}

function isEncodedMail(patch: Buffer): boolean {
  return /^content-transfer-encoding: *(?:base64|quoted-printable)/im.test(
    patch.toString('latin1', 0, 65_536),
  );
}

/** Finds with one request which of the expected names exist at base. */
async function existingAt(
  scratch: Scratch,
  tree: string,
  sections: readonly PatchSection[],
): Promise<(path: string) => boolean> {
  const names = new Set<string>();
  for (const section of sections) {
    for (const level of [0, 1] as const) {
      const name = expectedAtBase(section, level);
      if (name !== undefined && name !== '' && !/\n|\r$/.test(name)) names.add(name);
    }
  }
  const expected = [...names];
  const heads = await describeObjects(
    scratch,
    expected.map((name) => `${tree}:${name}`),
  );
  const found = new Set(expected.filter((_, index) => ['blob', 'commit'].includes(heads[index]?.type ?? '')));
  return (path) => found.has(path);
}

/**
 * Applies a patch to a tree with git, in a private index and without fuzz; returns the resulting tree.
 * PATCH_MALFORMED, PATCH_DOES_NOT_APPLY (detail: path, line, hunk) or PATCH_ESCAPES_REPOSITORY.
 */
async function applyPatch(
  scratch: Scratch,
  baseTree: string,
  patch: Buffer,
  sections: readonly PatchSection[],
  level: 0 | 1,
): Promise<string> {
  // Tasks are applied in parallel, and a killed process leaves its lock, so each has its own index.
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

/** git's message for a mode change from another mode; it names the file in no fixed position. */
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
    // The patch has no content of the file, so git only reports a difference.
    ...(reason.includes('without full index line')
      ? { hints: ['make the patch with the content of binary files: `git diff --binary`'] }
      : {}),
  });
}

/** git names the hunk by its first line in the old file; the detail also has its number. */
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

/** The names of a section without their first `level` directories. */
function strippedNames(section: PatchSection, level: 0 | 1): readonly string[] {
  const named = [section.oldName, section.newName].flatMap((name) =>
    name === undefined ? [] : [stripName(name, level)],
  );
  return [...new Set([...named, ...section.plainNames])];
}

/** The name that must exist at base; it decides the level. */
function expectedAtBase(section: PatchSection, level: 0 | 1): string | undefined {
  return section.oldName === undefined ? undefined : stripName(section.oldName, level);
}

/**
 * 1 if names have a prefix (`a/x`, `b/x`), 0 if not (`diff.noprefix`, `diff -u x y`). The files at base decide; for
 * new files only, the usual prefixes do.
 */
function pickStripLevel(sections: readonly PatchSection[], exists: (path: string) => boolean): 0 | 1 {
  let bare = 0;
  let prefixed = 0;
  for (const section of sections) {
    const asIs = expectedAtBase(section, 0);
    const stripped = expectedAtBase(section, 1);
    if (asIs === undefined || stripped === undefined || section.oldName === undefined) continue;
    if (exists(asIs)) bare += 1;
    if (section.oldName.includes('/') && exists(stripped)) prefixed += 1;
  }
  if (bare !== prefixed) return bare > prefixed ? 0 : 1;
  const names = sections.flatMap((section) =>
    [section.oldName, section.newName].filter((name) => name !== undefined),
  );
  if (names.length === 0) return 1;
  return names.every((name) => /^[abciow12]\//.test(name)) ? 1 : 0;
}

function stripName(name: string, level: 0 | 1): string {
  const slash = name.indexOf('/');
  return level === 0 || slash < 0 ? name : name.slice(slash + 1);
}

/** A resolved `A..B`: the merge base is the base, the tree of `tip` the candidate. */
export interface ResolvedRange {
  readonly base: Base & { readonly commit: string };
  /** A, as a commit. */
  readonly from: string;
  readonly tip: string;
  readonly tipTree: string;
}

/**
 * Resolves `A..B` (also `A..`, B being HEAD). REF_INVALID for another form, REF_NOT_FOUND; without a common ancestor
 * PATCH_DOES_NOT_APPLY, in a shallow clone OBJECTS_MISSING.
 */
export async function resolveRange(repo: Repository, range: string): Promise<ResolvedRange> {
  const parts = range.split('..');
  const [from, to] = parts;
  if (parts.length !== 2 || from === undefined || to === undefined || from === '' || to.startsWith('.')) {
    throw new WritError('REF_INVALID', {
      message: `expected a range \`A..B\`, found \`${printable(range)}\``,
      detail: { range: printable(range) },
    });
  }
  const left = await resolveCommit(repo, from);
  const tip = await resolveCommit(repo, to === '' ? 'HEAD' : to);
  const common = await mergeBase(repo, left, tip);
  if (common === undefined) {
    const hints = shallowHints(repo);
    // The common ancestor may be missing from a shallow clone.
    throw new WritError(hints.length > 0 ? 'OBJECTS_MISSING' : 'PATCH_DOES_NOT_APPLY', {
      message: `the ends of \`${printable(range)}\` have no common ancestor${hints.length > 0 ? ' here' : ''}`,
      detail: { from: left, to: tip },
      hints,
    });
  }
  return {
    base: { commit: common, tree: await treeOf(repo, common) },
    from: left,
    tip,
    tipTree: await treeOf(repo, tip),
  };
}

/** A path needs about a hundred bytes in a patch of at most 256 MiB. */
const maxPaths = 1_000_000;

/** The PatchSet of a resolved range; `scratch` must borrow from the repository. INPUT_TOO_LARGE. */
export async function patchFromRange(scratch: Scratch, range: ResolvedRange): Promise<PatchSet> {
  await requireListable(scratch, range);
  return normalisePatch(scratch, range.base, range.tipTree);
}

/**
 * INPUT_TOO_LARGE where trees differ at more than a million paths: a few objects can name so many that git would list
 * them for ever.
 */
export async function requireListable(
  place: GitDirectory,
  { base, tip, tipTree }: Omit<ResolvedRange, 'from'>,
): Promise<void> {
  const paths = await countChangedPaths(place, base.tree, tipTree);
  if (paths !== undefined && paths <= maxPaths) return;
  throw new WritError('INPUT_TOO_LARGE', {
    message: `the change from \`${base.commit.slice(0, 12)}\` to \`${tip.slice(0, 12)}\` names more than ${maxPaths} paths`,
    detail: { base: base.commit, commit: tip, maxPaths },
  });
}

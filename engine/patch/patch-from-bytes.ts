import { WritError } from '../../core/base/errors.ts';
import type { PatchSet } from '../../core/contract/patch-set.ts';
import { type PatchSection, readSections } from '../../readers/diff/read-sections.ts';
import { describeObjects } from '../vcs/blobs.ts';
import type { Base } from '../vcs/resolve-commit.ts';
import type { Scratch } from '../vcs/scratch.ts';
import { applyPatch } from './apply-patch.ts';
import { maxPatchBytes, normalisePatch, patchTooLarge } from './normalise.ts';
import { requirePatchPath } from './patch-paths.ts';
import { expectedAtBase, pickStripLevel, strippedNames } from './strip-level.ts';

/**
 * Reads a patch (git diff, plain unified with or without prefixes, `format-patch` mail; one or several) and applies it
 * to the base inside `scratch`, where the candidate's objects stay. At most 256 MiB. PATCH_EMPTY, PATCH_MALFORMED,
 * PATCH_DOES_NOT_APPLY, PATCH_ESCAPES_REPOSITORY, PATCH_TOUCHES_STATE, INPUT_TOO_LARGE.
 */
export async function patchFromBytes(scratch: Scratch, base: Base, bytes: Uint8Array): Promise<PatchSet> {
  if (bytes.length > maxPatchBytes) throw patchTooLarge(bytes.length);
  const patch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBlank(patch)) throw new WritError('PATCH_EMPTY', { message: 'the patch is empty' });
  const sections = readSections(patch);
  if (sections.length === 0) {
    throw new WritError('PATCH_MALFORMED', {
      message: 'expected a unified or git diff, found none in the input',
      ...(isEncodedMail(patch)
        ? { hints: ['the mail is encoded: pass it through `git mailinfo` first'] }
        : {}),
    });
  }
  const level = pickStripLevel(sections, await existingAt(scratch, base.tree, sections));
  for (const section of sections) for (const name of strippedNames(section, level)) requirePatchPath(name);
  const candidate = await applyPatch(scratch, base.tree, patch, sections, level);
  return normalisePatch(scratch, base, candidate);
}

/** The names in a patch, with and without their first directory. Nothing is checked. */
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

/** Which of the names that the patch expects exist at base, asked at once. */
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
  const asked = [...names];
  const heads = await describeObjects(
    scratch,
    asked.map((name) => `${tree}:${name}`),
  );
  const found = new Set(asked.filter((_, index) => ['blob', 'commit'].includes(heads[index]?.type ?? '')));
  return (path) => found.has(path);
}

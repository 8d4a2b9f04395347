import type { Finding } from '../../../core/contract/finding.ts';
import type { PatchFile, PatchSet } from '../../../core/contract/patch-set.ts';
import { hunkLines } from '../../../readers/diff/hunk-lines.ts';
import { maskPath } from '../../../readers/sensitive/redact-texts.ts';
import { findRegions } from '../../../readers/sensitive/regions.ts';

/** What stands where something was taken out of a kept patch. */
export const mask = '[masked: secrets]';

/** A patch as it is kept, and how much of it that left out. */
export interface MaskedPatch {
  readonly bytes: Uint8Array;
  /** Files of which nothing that was added is kept. */
  readonly files: number;
  readonly lines: number;
}

/** The rule that refuses secrets; what it refused is never stored. */
const secretsRule = 'secrets';

/** Files of a patch that rule `secrets` refused: all where it names none, or one that is not known by that name. */
export function refusedFiles({ files }: PatchSet, findings: readonly Finding[]): ReadonlySet<PatchFile> {
  const refused = new Set<PatchFile>();
  for (const { rule, severity, path, detail } of findings) {
    // What is refused for its words is refused for nothing in the patch.
    if (rule !== secretsRule || severity !== 'error' || detail?.wording !== undefined) continue;
    const named = files.filter((file) => path !== undefined && file.path === path);
    for (const file of named.length > 0 ? named : files) refused.add(file);
  }
  return refused;
}

/** Files of a patch that no rule was asked about, where a detector sees a secret or cannot look. */
export function suspectFiles({ files, diff }: PatchSet): ReadonlySet<PatchFile> {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  return new Set(
    files.filter((file) => file.binary || maskPath(file.path) !== file.path || addsSecret(bytes, file)),
  );
}

function addsSecret(diff: Buffer, file: PatchFile): boolean {
  const lines: Buffer[] = [];
  for (const { kind, start, end } of hunkLines(diff, file))
    if (kind === 'added') lines.push(diff.subarray(start, end), Buffer.from('\n'));
  return findRegions(Buffer.concat(lines), { classes: new Set(['secrets']), words: {} }).length > 0;
}

/**
 * The diff without every added line of the refused files and the content of binary ones. Lines keep their numbers;
 * names lose the tokens in them. Whole lines, because what a detector points at is where a secret begins, not all that
 * belongs to it.
 */
export function maskPatch(patch: PatchSet, refused: ReadonlySet<PatchFile>): MaskedPatch {
  const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
  const parts: Buffer[] = [];
  let lines = 0;
  let from = 0;
  for (const file of patch.files) {
    if (!refused.has(file)) continue;
    parts.push(diff.subarray(from, file.start));
    lines += maskFile(diff, file, parts);
    from = file.end;
  }
  parts.push(diff.subarray(from));
  return { bytes: Buffer.concat(parts), files: refused.size, lines };
}

/** Adds what is kept of a file to `parts`; answers how many added lines that left out. */
function maskFile(diff: Buffer, file: PatchFile, parts: Buffer[]): number {
  const headEnd = lineAt(diff, file, file.binary ? 'GIT binary patch\n' : '@@ ');
  parts.push(Buffer.from(maskHead(diff.toString('utf8', file.start, headEnd))));
  if (file.binary) {
    if (headEnd < file.end) parts.push(Buffer.from(`${mask}\n`));
    return 0;
  }
  let from = headEnd;
  let lines = 0;
  for (const { kind, start, end } of hunkLines(diff, file)) {
    if (kind !== 'added') continue;
    parts.push(diff.subarray(from, start), Buffer.from(mask));
    from = end;
    lines += 1;
  }
  parts.push(diff.subarray(from, file.end));
  return lines;
}

/** Where the first line begins that begins so; the end of the file's part where none does. */
function lineAt(diff: Buffer, { start, end }: PatchFile, opening: string): number {
  const at = diff.indexOf(`\n${opening}`, start);
  return at === -1 || at >= end ? end : at + 1;
}

function maskHead(head: string): string {
  return head
    .split('\n')
    .map((line) => maskPath(line))
    .join('\n');
}

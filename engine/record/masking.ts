/* Masks secrets in the patch of a run that is not sealed. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import { codedForms } from '../../readers/sensitive/encoded-text.ts';
import { isShort, mask, maskAlone } from '../../readers/sensitive/mask-words.ts';
import { maskPath } from '../../readers/sensitive/redact.ts';
import { findRegions } from '../../readers/sensitive/redactor.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../../readers/sensitive/secrets/weigh-secret.ts';
import { toJson } from '../../store/record/record-paths.ts';
import type { MaskedRecord } from '../../store/record/summaries.ts';
import type { Attempt, RunServices } from '../state/open-run.ts';
import type { EvaluatedRun } from './evaluation-objects.ts';

/** A patch as it is kept, and how much of it that left out. */
interface MaskedPatch {
  readonly bytes: Uint8Array;
  /** Number of files with every added line removed. */
  readonly files: number;
  readonly lines: number;
}

/** The rule that refuses secrets; what it refused is never stored. */
const secretsRule = 'secrets';

/** Files of a patch that rule `secrets` refused: all where it names none, or one that is not known by that name. */
function refusedFiles({ files }: PatchSet, findings: readonly Finding[]): ReadonlySet<PatchFile> {
  const refused = new Set<PatchFile>();
  for (const { rule, severity, path, detail } of findings) {
    // A secret in the commit message or authors is not in the patch, so no file is refused for it.
    if (rule !== secretsRule || severity !== 'error' || detail?.wording !== undefined) continue;
    const named = files.filter((file) => path !== undefined && file.path === path);
    for (const file of named.length > 0 ? named : files) refused.add(file);
  }
  return refused;
}

/** Files of a patch that was never checked in which the detector finds a secret, or which it cannot read (binary). */
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

/**
 * Removes these values from bytes: literal, hex, URL-encoded, and base64 or base64url at any offset of a longer text.
 * The longest values come first.
 */
export function maskValues(bytes: Uint8Array, values: readonly Buffer[]): Uint8Array {
  let text = Buffer.from(bytes).toString('latin1');
  for (const value of values)
    for (const form of formsOf(value))
      text = isShort(value) ? maskAlone(text, form) : text.replaceAll(form, mask);
  return Buffer.from(text, 'latin1');
}

/** The same of words, for the value as it is. */
export function maskWords(words: string, values: readonly Buffer[]): string {
  return values.reduce((text, value) => {
    const form = value.toString('utf8');
    return isShort(value) ? maskAlone(text, form) : text.replaceAll(form, mask);
  }, words);
}

function formsOf(value: Buffer): ReadonlySet<string> {
  const plain = value.toString('latin1');
  return new Set(isShort(value) ? [plain] : [plain, ...codedForms(value)]);
}

/** What is kept in place of a patch. */
interface KeptPatch {
  readonly bytes: Uint8Array;
  /** `masked.json`. */
  readonly record: Uint8Array;
}

/** What may be kept of the patch of a run that is not sealed; `undefined` where all of it may. */
export function keepMasked(
  { patch, steps }: Pick<Attempt, 'patch'> & Pick<RunServices, 'steps'>,
  { findings }: Pick<EvaluatedRun, 'findings'>,
): KeptPatch | undefined {
  const wasJudged = ['patch-judged', 'part-judged'].some((name) => steps.ended(name) !== undefined);
  const named = wasJudged ? refusedFiles(patch, findings) : suspectFiles(patch);
  if (named.size === 0) return undefined;
  // In a binary file the same value is packed away where it cannot be looked for.
  const refused = new Set([...named, ...patch.files.filter(({ binary }) => binary)]);
  const kept = maskPatch(patch, refused);
  const { files, lines } = kept;
  const bytes = maskValues(kept.bytes, secretValues(patch, refused));
  const record: MaskedRecord = {
    schema: 'urn:writ:masked:v1',
    path: 'patchset.diff',
    rule: 'secrets',
    originalSha256: patch.digest,
    storedSha256: sha256Hex(bytes),
    files,
    lines,
  };
  return { bytes, record: toJson(record) };
}

/**
 * Minimum length of a value to mask; shorter ones would remove ordinary words. Values from `minMixed` on count if
 * they hold letters and digits, because no word does.
 */
const minBytes = 8;
const minMixed = 5;

/**
 * Every secret on the added lines of these files and on the context around them, which may name an added value: as its
 * bytes are there, and decoded. The longest is first, a key line by line.
 */
export function secretValues({ diff }: PatchSet, files: Iterable<PatchFile>): readonly Buffer[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const found = new Set<string>();
  for (const file of files) {
    const lines: string[] = [];
    for (const { kind, start, end } of hunkLines(bytes, file))
      if (kind !== 'removed') lines.push(bytes.toString('latin1', start, end));
    const text = lines.join('\n');
    for (const match of findSecrets(Buffer.from(text, 'latin1'), text, file.path)) {
      if (weighSecret(match, text) !== 'secret') continue;
      const written = text.slice(match.start, match.end);
      const values = [
        written,
        match.value ?? '',
        ...(match.rule === 'url-password' ? [decoded(written)] : []),
      ];
      for (const value of values)
        for (const line of value.split('\n')) if (!isCommon(line)) found.add(line.trim());
    }
  }
  return [...found].sort((a, b) => b.length - a.length).map((value) => Buffer.from(value, 'latin1'));
}

/**
 * Decodes percent escapes (`%40`) of a URL part, as latin1 like the rest of the text; '' if there are none or they
 * are invalid.
 */
function decoded(written: string): string {
  if (!written.includes('%')) return '';
  try {
    return Buffer.from(decodeURIComponent(written)).toString('latin1');
  } catch {
    return '';
  }
}

/** The first and last line of a key are every key's. */
function isCommon(line: string): boolean {
  const value = line.trim();
  const isWord = value.length < minBytes && !(/[A-Za-z]/.test(value) && /\d/.test(value));
  return value.length < minMixed || isWord || value.startsWith('-----');
}

import type { PatchFile, PatchSet } from '../../../core/contract/patch-set.ts';
import { hunkLines } from '../../../readers/diff/hunk-lines.ts';
import { findSecrets } from '../../../readers/sensitive/secrets/find-secrets.ts';
import { weighSecret } from '../../../readers/sensitive/secrets/weigh-secret.ts';

/**
 * Shorter values would take words out of what is kept; those of at least `minMixed` are taken where they hold letters
 * and digits, as no word does.
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
 * What an address writes as `%40` is told without it, in latin1 like all of the text; empty where it cannot be read.
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

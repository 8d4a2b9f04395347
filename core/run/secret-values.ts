import type { PatchFile, PatchSet } from '../contract/patch-set.ts';
import { hunkLines } from '../patch/hunk-lines.ts';
import { findSecrets } from '../privacy/secrets/find-secrets.ts';
import { passwordsByName } from '../privacy/secrets/passwords-by-name.ts';
import { weighSecret } from '../privacy/secrets/weigh-secret.ts';

/** Shorter values would take words out of what is kept. */
const minBytes = 8;

/** Every secret on the added lines of these files, as its bytes stand there and as what they stand for; the longest first, a key line by line. */
export function secretValues({ diff }: PatchSet, files: Iterable<PatchFile>): readonly Buffer[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const found = new Set<string>();
  for (const file of files) {
    const lines: string[] = [];
    for (const { kind, start, end } of hunkLines(bytes, file))
      if (kind === 'added') lines.push(bytes.toString('latin1', start, end));
    const text = lines.join('\n');
    const named = passwordsByName(file.path, text);
    for (const match of [...findSecrets(Buffer.from(text, 'latin1'), text), ...named]) {
      if (weighSecret(match, text) !== 'secret') continue;
      for (const value of [text.slice(match.start, match.end), match.value ?? ''])
        for (const line of value.split('\n')) if (!isCommon(line)) found.add(line.trim());
    }
  }
  return [...found].sort((a, b) => b.length - a.length).map((value) => Buffer.from(value, 'latin1'));
}

/** The first and last line of a key are every key's. */
function isCommon(line: string): boolean {
  return line.trim().length < minBytes || line.trim().startsWith('-----');
}

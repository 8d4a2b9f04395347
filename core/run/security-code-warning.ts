import { compileGlob } from '../base/glob.ts';
import type { WritConfig } from '../config.ts';
import type { Finding } from '../contract/finding.ts';
import type { PatchSet } from '../contract/patch-set.ts';
import { addedLines } from '../patch/added-lines.ts';
import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';

/**
 * At `medium` risk without a human loop, a change that touches security code is warned of (document 1, Risk-level
 * rules): what that is says `[security_code]` in the config. One warning, naming the first place.
 */
export function securityCodeWarning(
  { risk }: EffectiveIntentSpec,
  { securityCode }: Pick<WritConfig, 'securityCode'>,
  patch: PatchSet,
): readonly Finding[] {
  if (risk.level !== 'medium' || risk.humanInLoop.required) return [];
  const globs = securityCode.paths.map((pattern) => compileGlob(pattern));
  const words = securityCode.words.map((word) => Buffer.from(word.toLowerCase(), 'latin1'));
  for (const file of patch.files) {
    const byPath = globs.some((glob) => glob.matches(file.path));
    const line = byPath ? undefined : lineWithWord(patch, file, words);
    if (!byPath && line === undefined) continue;
    return [
      {
        rule: 'security-code',
        severity: 'warning',
        message: 'the change touches security code at medium risk, and no person has to approve it',
        path: file.path,
        ...(line === undefined ? {} : { line }),
      },
    ];
  }
  return [];
}

function lineWithWord(
  patch: PatchSet,
  file: PatchSet['files'][number],
  words: readonly Buffer[],
): number | undefined {
  if (words.length === 0) return undefined;
  for (const { line, start, end } of addedLines(patch.diff, file)) {
    const text = Buffer.from(
      Buffer.from(patch.diff.buffer, start, end - start)
        .toString('latin1')
        .toLowerCase(),
      'latin1',
    );
    if (words.some((word) => text.includes(word))) return line;
  }
  return undefined;
}

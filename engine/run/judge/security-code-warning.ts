import { compileGlob } from '../../../core/base/glob.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import type { WritConfig } from '../../config/config.ts';
import { findSecurityWord } from '../../spec/security-words.ts';

/**
 * At `medium` risk without a human loop, a change that touches security code is warned of (document 1, Risk-level
 * rules). What that is, by path or by a word in one, says `[security_code]` in the config. One warning, for the first.
 */
export function securityCodeWarning(
  { risk }: EffectiveIntentSpec,
  { securityCode }: Pick<WritConfig, 'securityCode'>,
  patch: PatchSet,
): readonly Finding[] {
  if (risk.level !== 'medium' || risk.humanInLoop.required) return [];
  const globs = securityCode.paths.map((pattern) => compileGlob(pattern));
  const touched = patch.files.find(
    ({ path }) =>
      globs.some((glob) => glob.matches(path)) || findSecurityWord(path, securityCode.words) !== undefined,
  );
  if (!touched) return [];
  return [
    {
      rule: 'security-code',
      severity: 'warning',
      message: 'the change touches security code at medium risk, and no person has to approve it',
      path: touched.path,
    },
  ];
}

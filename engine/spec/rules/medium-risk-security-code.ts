import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';
import { findSecurityWord } from '../security-words.ts';

/** Medium risk without a human loop warns where summary, scope or touch hints speak of security code. */
export function mediumRiskSecurityCode(spec: Partly<IntentSpec>, words: readonly string[]): readonly Issue[] {
  if (spec.risk?.level !== 'medium' || spec.risk.humanInLoop?.required !== false) return [];
  const { summary, inScope, touchHints } = spec.intent ?? {};
  const texts = [
    summary,
    ...(inScope ?? []),
    ...(touchHints?.files ?? []),
    ...(touchHints?.symbols ?? []),
    ...(touchHints?.apis ?? []),
  ];
  for (const text of texts) {
    const word = text === undefined ? undefined : findSecurityWord(text, words);
    if (word !== undefined) {
      return [
        warning(
          'SEMANTIC_MEDIUM_RISK_SECURITY_CODE',
          '/risk/humanInLoop/required',
          `expected a human loop where security code is touched, found ${quoted(word)} in the intent`,
        ),
      ];
    }
  }
  return [];
}

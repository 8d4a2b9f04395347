import { compileGlob } from '../../../core/base/glob.ts';
import type { ChangeType, RiskLevel } from '../../../core/contract/intentspec.gen.ts';
import type { WritConfig } from '../../config/config.ts';
import { findSecurityWord } from '../../spec/security-words.ts';
import type { IntentDraft } from './intent-draft.ts';

/** The least risk of a kind of change (document 1, Risk). */
const leastOf: Readonly<Record<ChangeType, RiskLevel>> = {
  docs: 'low',
  chore: 'low',
  bugfix: 'low',
  feature: 'medium',
  refactor: 'medium',
  performance: 'medium',
  unknown: 'medium',
  security: 'high',
};

const levels: readonly RiskLevel[] = ['low', 'medium', 'high'];

/** A level, and why it is not lower. */
export interface RiskFloor {
  readonly level: RiskLevel;
  readonly why: string;
}

/**
 * The lowest level that a draft may have, whatever it says: its kind of change, and whether request, words or places
 * speak of security code, as `[security_code]` at the policy commit tells it. Pure.
 */
export function riskFloor(
  request: string,
  draft: Pick<IntentDraft, 'changeType' | 'summary' | 'objectives' | 'inScope' | 'files' | 'symbols'>,
  { securityCode }: Pick<WritConfig, 'securityCode'>,
): RiskFloor {
  const { changeType, summary, objectives, inScope, files, symbols } = draft;
  const globs = securityCode.paths.map((pattern) => compileGlob(pattern));
  const places = [...inScope, ...files];
  const place = places.find((path) => globs.some((glob) => glob.matches(path)));
  if (place !== undefined) return { level: 'high', why: `\`${place}\` is security code` };
  for (const text of [request, summary, ...objectives, ...places, ...symbols]) {
    const found = findSecurityWord(text, securityCode.words);
    if (found !== undefined) return { level: 'high', why: `\`${found}\` speaks of security code` };
  }
  return { level: leastOf[changeType], why: `the least for \`${changeType}\`` };
}

/** The higher of two levels. */
export function higherRisk(one: RiskLevel, other: RiskLevel): RiskLevel {
  return levels.indexOf(one) >= levels.indexOf(other) ? one : other;
}

import type { Finding } from '../core/interfaces/finding.ts';
import type { RuleFunction } from '../core/interfaces/rule.ts';
import { toRuleInput } from '../testing.ts';
import type { LabelledCase } from './parse-cases.ts';

/** How labelled cases came out: lines found and labelled, found without label, labelled and not found. */
export interface Score {
  readonly cases: number;
  readonly traps: number;
  readonly right: number;
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
  readonly precision: number;
  readonly recall: number;
}

/**
 * Asks a rule about every case; `prefixOf` tells findings of one line apart, where only those of `expected` are the
 * labelled ones.
 */
export async function scoreCases(
  judge: RuleFunction,
  cases: readonly LabelledCase[],
  expected = '',
  prefixOf: (finding: Finding) => string = () => '',
): Promise<Score> {
  const wrong: string[] = [];
  const missed: string[] = [];
  let right = 0;
  for (const { name, path, code, lines } of cases) {
    const findings = await judge(toRuleInput({ name, files: { [path]: { candidate: code } } }));
    const found = new Set(findings.map((finding) => `${prefixOf(finding)} line ${finding.line}`));
    const labelled = new Set(lines.map((line) => `${expected} line ${line}`));
    for (const one of labelled) {
      if (found.has(one)) right += 1;
      else missed.push(`${name}: ${one}`);
    }
    for (const one of found) if (!labelled.has(one)) wrong.push(`${name}: ${one}`);
  }
  return {
    cases: cases.length,
    traps: cases.filter(({ lines }) => lines.length === 0).length,
    right,
    wrong,
    missed,
    precision: right / Math.max(1, right + wrong.length),
    recall: right / Math.max(1, right + missed.length),
  };
}

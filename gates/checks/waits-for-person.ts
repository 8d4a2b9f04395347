import type { Finding } from '../../core/contract/finding.ts';

/**
 * True where a rule says that a person has to act before it can pass: a finding with `detail.waiting` true. An `error`
 * beside it still fails.
 */
export function waitsForPerson(findings: readonly Finding[]): boolean {
  return findings.some(({ detail }) => detail?.waiting === true);
}

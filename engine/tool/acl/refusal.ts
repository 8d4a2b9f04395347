import type { Finding } from '../../../core/contract/finding.ts';

/** A denial as a finding of rule `acl`. */
export function refusal(message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule: 'acl', severity: 'error', message, detail };
}

import type { Finding } from '../../core/contract/finding.ts';
import { plainLine } from '../reports/plain-text.ts';
import type { ReportRefusal } from '../reports/test-report.ts';
import { failure } from './judge-exit.ts';

/** A `note` of a check that names its code. */
export function note(code: string, message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule: 'check-outcome', severity: 'note', message, detail: { code, ...detail } };
}

/** The error for a report that counts for nothing. */
export function unreadable(name: string, { reason, message }: ReportRefusal): Finding {
  const shown = plainLine(name);
  return failure('REPORT_UNREADABLE', `\`${shown}\` cannot be read as a test report: ${message}`, {
    report: shown,
    reason,
  });
}

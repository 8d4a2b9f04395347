import type { DescribedRule } from '../../core/contract/rule.ts';
import { sastRows } from './rows.ts';

/** Our rows as rules of a SARIF report. */
export const describedRows: readonly DescribedRule[] = sastRows.map(
  ({ id, cwe, severity, why, instead }) => ({
    id,
    about: `It ${why}.`,
    help: `${instead.charAt(0).toUpperCase()}${instead.slice(1)}.`,
    level: severity,
    securitySeverity: severity === 'error' ? '8.0' : '5.0',
    tags: ['security', `external/cwe/cwe-${cwe}`],
  }),
);

import type { WritError } from '../../../core/base/errors.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { contractRows } from '../../spec/contract-rows.ts';
import type { Judgement } from './judgement.ts';

/**
 * A refusal of a run as whoever validates the contract is told: warnings, because the document itself may be sound. One
 * for each row that nobody enforces, and for each issue that the refusal names.
 */
export function refusalIssues({ about }: Judgement, { code, message, detail }: WritError): readonly Issue[] {
  const words = (what: string): string => `${what}; a run is refused`;
  if (code === 'SPEC_UNENFORCED') {
    const rows = new Set(detail.rows as readonly string[]);
    return contractRows
      .filter(({ id }) => rows.has(id))
      .map(({ id, path, rule }) =>
        warning(code, path.replace(/\/\*.*$/, ''), words(`nothing loaded here enforces \`${id}\` (${rule})`)),
      );
  }
  if (code === 'INTENTSPEC_INVALID')
    return (detail.issues as readonly Issue[]).map((issue) =>
      warning(issue.code, issue.path, words(issue.message)),
    );
  return [warning(code, about, words(message))];
}

import type { CitationsRecord } from '../../store/record/citations.ts';
import { lackingCitations } from './lacking-citations.ts';

/** What an attempt was refused for by what it cites: as its findings say it, and as its citations say it now. */
export function citationsAgain(
  record: CitationsRecord,
  findings: readonly { readonly rule: string; readonly message: string }[],
): { readonly expected: readonly string[]; readonly found: readonly string[] } {
  return {
    expected: lackingCitations(record).map(({ message }) => message),
    found: findings.flatMap(({ rule, message }) => (rule === 'citations' ? [message] : [])),
  };
}

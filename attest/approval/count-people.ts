import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import type { AllowedSigners } from './allowed-signers.ts';
import { Persons } from './persons.ts';

/**
 * Leaves one counting verdict to each person: authors have none, a rejection stands above every approval of the same
 * person, the latest above earlier ones (who forgot the role that a check asks for can say it again), and one that a
 * person gave above one given in process.
 */
export function countPeople(
  judged: readonly ApprovalVerdict[],
  allowed: AllowedSigners,
  authors: readonly string[],
): readonly ApprovalVerdict[] {
  const open = judged.filter(({ status }) => status === 'counts');
  const persons = new Persons(allowed);
  for (const { keyId, principal } of open) persons.joinKey(keyId, principal);
  const excluded = new Set(authors.flatMap((author) => persons.ofIdentity(author)));
  const counting = new Map<string, ApprovalVerdict>();
  const latestFirst = [...open].reverse();
  const rejections = latestFirst.filter(({ decision }) => decision === 'reject');
  const approvals = latestFirst.filter(({ decision }) => decision === 'approve');
  const own = approvals.filter(({ inProcess }) => !inProcess);
  const inProcess = approvals.filter((verdict) => verdict.inProcess);
  for (const verdict of [...rejections, ...own, ...inProcess]) {
    const person = persons.ofKey(verdict.keyId);
    if (!counting.has(person)) counting.set(person, verdict);
  }
  return judged.map((verdict): ApprovalVerdict => {
    if (verdict.status !== 'counts') return verdict;
    const person = persons.ofKey(verdict.keyId);
    if (excluded.has(person)) {
      const detail = `\`${verdict.principal}\` is an author of the change or runs it`;
      return { ...verdict, status: 'author', detail };
    }
    const other = counting.get(person);
    if (other === undefined || other === verdict) return verdict;
    const detail = `the same person's ${other.decision === 'reject' ? 'rejection' : 'approval'} ${other.source} counts`;
    return { ...verdict, status: 'duplicate', detail };
  });
}

import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { isApproverCheck } from '../../spec/approver-check.ts';
import { checksOf } from '../../spec/checks-of.ts';

/** Code of the warning. */
export const approversLackingCode = 'APPROVERS_LACKING';

/**
 * Words where a contract waits for more people than `.writ/allowed_signers` at the policy commit has keys, without
 * their code: no such run is ever committed, since a run keeps its policy commit. Whose keys they are is not judged
 * here. Pure.
 */
export function approversLacking(
  spec: EffectiveIntentSpec,
  signers: Uint8Array | undefined,
): readonly string[] {
  const { required, minApprovers } = spec.risk.humanInLoop;
  const asks = checksOf(spec).some(({ check }) => isApproverCheck(check));
  const needed = required || asks ? Math.max(1, minApprovers) : 0;
  const keys = signers === undefined ? 0 : countLines(signers);
  if (keys >= needed) return [];
  const people = needed === 1 ? '1 person has' : `${needed} people have`;
  const found =
    signers === undefined
      ? 'the policy commit has no `.writ/allowed_signers`'
      : `\`.writ/allowed_signers\` at the policy commit names ${keys} ${keys === 1 ? 'key' : 'keys'}`;
  return [
    `${people} to approve the change, and ${found}: it can never be committed. Commit a line there for each of them before the run begins, a name and an SSH public key; who makes the change is none of them`,
  ];
}

/** As many keys as there can be at most. */
function countLines(signers: Uint8Array): number {
  const lines = Buffer.from(signers).toString('utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#')).length;
}

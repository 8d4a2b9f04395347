import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import { defaultBranch, shortBranch } from '../../vcs/default-branch.ts';
import type { PolicyCommit } from '../../vcs/find-policy.ts';
import { namedBranch } from '../../vcs/named-branch.ts';
import type { Target } from '../../vcs/plan-target.ts';
import { readRef } from '../../vcs/refs.ts';
import type { Repository } from '../../vcs/repository.ts';
import { resolveCommit } from '../../vcs/resolve-commit.ts';

/** A change is judged by what its contract named: neither by the branch that receives it nor by the default branch. */
export interface ForeignPolicy {
  /** The default branch as a full ref; `null` where this clone knows none. */
  readonly defaultRef: string | null;
}

/**
 * Tells a policy that is neither the target's nor the default branch's: whoever wrote the contract's baseRef chose it
 * (`docs/landing.md`). One that stands where the default branch stands is that branch's, whatever it is called.
 */
export async function findForeignPolicy(
  repository: Repository,
  target: Pick<Target, 'ref'>,
  policy: PolicyCommit,
): Promise<ForeignPolicy | undefined> {
  if (policy.commit === undefined || policy.ref === target.ref) return undefined;
  const ref = await defaultBranch(repository);
  if (ref === undefined) return { defaultRef: null };
  if (policy.ref !== undefined && shortBranch(policy.ref) === shortBranch(ref)) return undefined;
  return (await readRef(repository, ref)) === policy.commit ? undefined : { defaultRef: ref };
}

/** Code of the warning. */
export const foreignPolicyCode = 'POLICY_FOREIGN';

/** What a person is told of it, after its code. */
export function foreignPolicyWords(
  { defaultRef }: ForeignPolicy,
  { ref, commit = '' }: PolicyCommit,
  target: Pick<Target, 'ref'>,
): string {
  const whose = ref === undefined ? `the base ${commit.slice(0, 12)}` : `\`${printable(ref)}\``;
  const known =
    defaultRef === null
      ? ', and no default branch is known here'
      : ` nor of the default branch \`${printable(defaultRef)}\``;
  const lead = defaultRef === null ? 'not' : 'neither';
  return `the policy of ${whose} judges, because baseRef of the contract names it, ${lead} that of the target \`${printable(target.ref)}\`${known}; \`--onto BRANCH\` or \`--policy BRANCH\` holds a run to a branch of yours`;
}

/**
 * Refuses, POLICY_MISMATCH, a policy other than that of the branch that the person demands (`--policy`). REF_NOT_FOUND
 * where there is no such branch.
 */
export async function requirePolicyOf(
  repository: Repository,
  demanded: string,
  policy: PolicyCommit,
): Promise<void> {
  const ref = await namedBranch(repository, demanded);
  if (ref === undefined)
    throw new WritError('REF_NOT_FOUND', {
      message: `\`--policy\` expected a branch, found \`${printable(demanded)}\``,
      detail: { ref: printable(demanded) },
    });
  const wanted = await resolveCommit(repository, ref);
  if (wanted === policy.commit) return;
  const found = policy.ref === undefined ? 'the base' : `\`${printable(policy.ref)}\``;
  throw new WritError('POLICY_MISMATCH', {
    message: `expected the policy of \`${printable(ref)}\` at ${wanted.slice(0, 12)}, found that of ${found} at ${policy.commit?.slice(0, 12) ?? 'no commit'}`,
    detail: { expected: wanted, found: policy.commit ?? null, ref: policy.ref ?? null },
  });
}

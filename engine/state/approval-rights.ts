/* Warnings and refusals about who may approve a change. */
import { WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { isApproverCheck, workerRights } from '../../spec/facts.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { PolicyCommit } from '../../workspace/git/target.ts';
import { touchesGoverning } from '../../workspace/patch/patch-paths.ts';

/** Code of the warning. */
export const approversLackingCode = 'APPROVERS_LACKING';

/**
 * Warns if the spec needs more approvers than `.writ/allowed_signers` at the policy commit has keys. Such a run can
 * never commit, because a run keeps its policy commit. Key owners are not checked here. Text without the code. Pure.
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

/** Code of the warning. */
export const rightsLackingCode = 'RIGHTS_LACKING';

const needed = [
  ['workspace.fs', 'read'],
  ['workspace.fs', 'write'],
] as const;

/** Words where a model is to work and no rule lets it read or write a file, without their code. Pure. */
export function rightsLacking({ security }: EffectiveIntentSpec): readonly string[] {
  const lacking = needed.filter(
    ([tool, action]) =>
      !security.toolAcl.allow.some((rule) => rule.tool === tool && rule.actions.includes(action)),
  );
  if (lacking.length === 0) return [];
  const named = lacking.map(([tool, action]) => `\`${action}\` of \`${tool}\``).join(' and ');
  const rules = workerRights.map((rule) => JSON.stringify(rule)).join(', ');
  return [
    `a model is asked to make the change, and no rule under \`security.toolAcl.allow\` lets it ${named}: what it needs is ${rules}; where it may write, the scope says`,
  ];
}

/**
 * A patch to files that govern writ needs approvals by signers at the policy commit. If that commit lists none,
 * approval is impossible, so the run fails at once: PATCH_TOUCHES_STATE.
 */
export async function requireOldSigners(
  scratch: Scratch,
  policy: PolicyCommit,
  { files }: Pick<PatchSet, 'files'>,
): Promise<void> {
  if (!touchesGoverning(files)) return;
  const signers = await readBlob(scratch, policy.tree, '.writ/allowed_signers');
  if (signers?.toString('utf8').trim()) return;
  throw new WritError('PATCH_TOUCHES_STATE', {
    message:
      'the patch changes the policy files of writ, and no `.writ/allowed_signers` at the policy commit says who may approve that',
    detail: {
      paths: files
        .map(({ path }) => path)
        .filter((path) => path.startsWith('.writ/'))
        .slice(0, 20),
    },
    hints: [
      'commit `.writ/allowed_signers` with plain git first; two of the people in it approve later changes',
    ],
  });
}

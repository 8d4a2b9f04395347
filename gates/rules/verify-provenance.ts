import type { RuleFunction } from '../../core/interfaces/rule.ts';

const rule = 'verify-provenance';

/**
 * `verify-provenance`: a trial of the seal (`docs/decisions/0006-evidence-set.md`) signed, verified and found its log.
 * What is sealed afterwards is verified itself before the branch moves. A contract that asks for no provenance gives it
 * nothing to verify, and that is no pass.
 */
export const judge: RuleFunction = ({ args, rehearsal }) => {
  if (args.length > 0) {
    const message = `\`${rule}\` takes no arguments, found \`${args.join(' ').slice(0, 200)}\``;
    return [{ rule, severity: 'error', message, detail: { code: 'POLICY_ARGUMENTS' } }];
  }
  if (!rehearsal) {
    const message =
      'there will be no provenance to verify: set `provenance.requireSlsaProvenance` in the contract, or drop this check';
    return [{ rule, severity: 'error', message, detail: { code: 'PROVENANCE_NOT_ASKED_FOR' } }];
  }
  return rehearsal.problems.map((problem) => ({
    rule,
    severity: 'error',
    message: `a seal of this change would not verify: ${problem}`,
    detail: { code: 'PROVENANCE_UNVERIFIABLE' },
  }));
};

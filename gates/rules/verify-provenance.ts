/* The rule `verify-provenance`. */
import type { RuleFunction } from '../../core/interfaces/rule.ts';

const rule = 'verify-provenance';

/**
 * `verify-provenance`: a rehearsal of the seal (`docs/decisions/0006-evidence-set.md`) must sign, verify and reach
 * its log. The real seal is verified separately before the branch moves. If the spec requires no provenance, the rule
 * fails, because it has no seal to verify.
 */
export const judge: RuleFunction = ({ args, rehearsal }) => {
  if (args.length > 0) {
    const message = `\`${rule}\` takes no arguments, found \`${args.join(' ').slice(0, 200)}\``;
    return [{ rule, severity: 'error', message, detail: { code: 'POLICY_ARGUMENTS' } }];
  }
  if (!rehearsal) {
    const message =
      'there will be no provenance to verify: set `provenance.requireSlsaProvenance` in the spec, or drop this check';
    return [{ rule, severity: 'error', message, detail: { code: 'PROVENANCE_NOT_ASKED_FOR' } }];
  }
  return rehearsal.problems.map((problem) => ({
    rule,
    severity: 'error',
    message: `a seal of this change would not verify: ${problem}`,
    detail: { code: 'PROVENANCE_UNVERIFIABLE' },
  }));
};

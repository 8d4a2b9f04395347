import type { Finding } from '../../../core/interfaces/finding.ts';
import type { HandedOn } from './carry-store.ts';
import { carryLimits, type TrackedCarry } from './take-carried.ts';

/**
 * Returns why a check with carried paths fails. If the candidate tracks a carried path, later checks would use
 * content that was never committed. Pure.
 */
export function carryFindings(
  tracked: readonly TrackedCarry[],
  refused: HandedOn['refused'],
): readonly Finding[] {
  return [
    ...tracked.map(({ path, tracked: found }) =>
      finding(
        'CARRY_TRACKED',
        path,
        `\`[workspace] carry\` names \`${path}\`, where the tree tracks \`${found}\``,
      ),
    ),
    ...refused.map(({ path, reason }) =>
      finding(
        'CARRY_REFUSED',
        path,
        `expected at \`${path}\`, which \`[workspace] carry\` names, only files, directories and links within the workspace, at most ${carryLimits.entries} entries and ${carryLimits.bytes} bytes, found: ${reason}; let the check leave something else there, or name less in \`carry\` at the policy commit`,
      ),
    ),
  ];
}

function finding(code: string, path: string, message: string): Finding {
  return { rule: 'check-outcome', severity: 'error', message, detail: { code, path } };
}

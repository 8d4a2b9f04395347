/* The rule `scope`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { scopeVerdict } from '../../spec/scope-verdict.ts';

const rule = 'scope';

/** Refuses every changed path outside the spec's write scope. For a rename both paths count. */
export const judge: RuleFunction = ({ patch, scope }) => {
  const findings: Finding[] = [];
  for (const file of patch.files) {
    for (const path of ends(file)) {
      const verdict = scopeVerdict(scope, path);
      if (verdict === 'in') continue;
      const message =
        verdict === 'forbidden'
          ? `\`${path}\` is named in outOfScope`
          : `\`${path}\` is outside inScope and touchHints.files`;
      findings.push({
        rule,
        severity: 'error',
        message,
        path,
        detail: { verdict, changeType: file.changeType },
      });
    }
  }
  return findings;
};

function ends({ changeType, oldPath, path }: PatchFile): readonly string[] {
  return changeType === 'rename' && oldPath !== undefined ? [oldPath, path] : [path];
}

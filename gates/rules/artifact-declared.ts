/* The rule `artifact-declared`. */
import type { RuleFunction } from '../../core/interfaces/rule.ts';

const rule = 'artifact-declared';

/** Every name in a check's `artifactsProduced` must be an artifact of the spec. */
export const judge: RuleFunction = ({ spec, stage }) => {
  if (!stage) return [];
  const listed = new Set<string>(spec.artifacts.required.map(({ name }) => name));
  return spec.acceptance.verificationPlan[`${stage.name}Checks`].flatMap((check) =>
    [...new Set(check.artifactsProduced)]
      .filter((name) => !listed.has(name))
      .map((name) => ({
        rule,
        severity: 'error' as const,
        message: `check \`${check.id}\` produces \`${name}\`, expected an entry of that name in \`artifacts.required\`, found none`,
        detail: { check: check.id, artifact: name },
      })),
  );
};

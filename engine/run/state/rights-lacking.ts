import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { workerRights } from '../../spec/worker-rights.ts';

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

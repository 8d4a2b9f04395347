import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { isAttested } from '../../spec/is-attested.ts';

/** Code of the warning. */
export const logUnusedCode = 'LOG_UNUSED';

/** Words where the contract names a log and asks for nothing that would go into it, without their code. Pure. */
export function logWithoutUse(spec: EffectiveIntentSpec): readonly string[] {
  const { mode } = spec.provenance.transparencyLog;
  if (mode === 'none' || isAttested(spec)) return [];
  return [
    `\`provenance.transparencyLog.mode\` is \`${mode}\`, and nothing is logged: what is logged is the provenance, and \`requireSlsaProvenance\` is \`false\``,
  ];
}

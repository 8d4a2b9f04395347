import type { ObjectBody } from '../store/object-shapes.ts';
import type { AdmittedContract } from './admit-contract.ts';

/** The Intent of a contract (document 1, Metadata and Intent). */
export function intentBody({
  effective,
  digest,
}: Pick<AdmittedContract, 'effective' | 'digest'>): ObjectBody<'intent'> {
  const { intent, risk } = effective;
  return {
    intentspec_digest: digest,
    summary: intent.summary,
    prompt: intent.problemStatement,
    change_type: intent.changeType,
    risk_level: risk.level,
    objectives: intent.objectives,
  };
}

import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { Attempt } from '../state/open-run.ts';

/** Whether the repository demands this check of every change (`[[checks.always]]` at the policy commit). */
export function isMandatory(
  { identity: { contract } }: Pick<Attempt, 'identity'>,
  { id }: Pick<EffectiveCheck, 'id'>,
): boolean {
  return contract.mandatory.includes(id);
}

import { isWritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import {
  advisoryDir,
  openAdvisoryDatabase,
} from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import type { CommandContext } from './command.ts';

/** Returns a warning if the spec runs an `sca` check and this user has no readable advisory database. */
export function advisoriesLacking(
  { acceptance }: EffectiveIntentSpec,
  env: CommandContext['env'],
): readonly string[] {
  const { securityChecks } = acceptance.verificationPlan;
  if (!securityChecks.some(({ kind, command }) => kind === 'policy' && command === 'sca')) return [];
  try {
    if (openAdvisoryDatabase(advisoryDir(env)) !== undefined) return [];
    return ['packages are looked up in advisories, and none are imported here: `writ sca import FILE`'];
  } catch (fault) {
    if (isWritError(fault, 'ADVISORIES_CORRUPT')) return [fault.message];
    throw fault;
  }
}

import { isWritError, WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import {
  advisoryDir,
  openAdvisoryDatabase,
} from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import type { CommandContext } from './command.ts';

/** Words where a contract has packages looked up in advisories and this user has none that can be read. */
export function advisoriesLacking(
  { acceptance }: EffectiveIntentSpec,
  env: CommandContext['env'],
): readonly string[] {
  const { securityChecks } = acceptance.verificationPlan;
  if (!securityChecks.some(({ kind, command }) => kind === 'policy' && command === 'sca')) return [];
  try {
    if (openAdvisoryDatabase(advisoryDir(env)) !== undefined) return [];
    return [lackOf(new WritError('ADVISORIES_MISSING'))];
  } catch (fault) {
    if (isWritError(fault, 'ADVISORIES_CORRUPT')) return [lackOf(fault)];
    throw fault;
  }
}

/** As a drafted contract says it. */
function lackOf({ message, hints }: WritError): string {
  return [message, ...hints.slice(0, 1)].join(': ');
}

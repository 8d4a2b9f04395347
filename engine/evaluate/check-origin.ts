import type { Finding } from '../../core/interfaces/finding.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { scannerCheckId } from '../state/checks.ts';

/** Where a check stands that its contract does not name. */
export interface CheckOrigin {
  readonly path: '.writ/config.toml';
  /** As it is written there. */
  readonly table: string;
  readonly id: string;
}

/**
 * The table of the configuration that adds a check to a contract; `undefined` for a check of the contract's own. Pure.
 */
export function checkOrigin(
  id: string,
  { mandatory, effective }: Pick<AdmittedContract, 'mandatory' | 'effective'>,
  { checks, policies, factors, scanners }: Pick<WritConfig, 'checks' | 'policies' | 'factors' | 'scanners'>,
): CheckOrigin | undefined {
  const at = (table: string): CheckOrigin => ({ path: '.writ/config.toml', table, id });
  if (mandatory.includes(id)) {
    if (checks.always.some(({ check }) => check.id === id)) return at('[[checks.always]]');
    const scanner = [...scanners.keys()].find((one) => scannerCheckId(one) === id);
    if (scanner !== undefined) return at(`[scanner.${scanner}]`);
    const name = [...policies.keys()].find((one) => `policy-${one}` === id);
    return name === undefined ? undefined : at(`[policy.${name}]`);
  }
  const tag = effective.risk.factors.find((one) => factors.get(one)?.some(({ check }) => check.id === id));
  return tag === undefined ? undefined : at(`[factors.${tag}]`);
}

/** Says of an error where the check that it is about was configured: whoever reads it looks in vain in the contract. */
export function blameOrigin(finding: Finding, origin: CheckOrigin | undefined): Finding {
  if (origin === undefined || finding.severity !== 'error' || finding.path !== undefined) return finding;
  const { path, table, id } = origin;
  return {
    ...finding,
    message: `${finding.message} (check \`${id}\` of \`${table}\` in \`${path}\` at the policy commit)`,
    detail: { ...finding.detail, config: { path, table, id } },
  };
}

import type { Finding } from '../../core/interfaces/finding.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { scannerCheckId } from '../state/checks.ts';

/** Location of a check that the spec does not name. */
export interface CheckOrigin {
  readonly path: '.writ/config.toml';
  /** As it is written there. */
  readonly table: string;
  readonly id: string;
}

/** Returns the configuration table that adds a check to a spec, or `undefined` for a check of the spec itself. Pure. */
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

/** Adds to an error the place where its check was configured, because the spec does not contain that check. */
export function blameOrigin(finding: Finding, origin: CheckOrigin | undefined): Finding {
  if (origin === undefined || finding.severity !== 'error' || finding.path !== undefined) return finding;
  const { path, table, id } = origin;
  return {
    ...finding,
    message: `${finding.message} (check \`${id}\` of \`${table}\` in \`${path}\` at the policy commit)`,
    detail: { ...finding.detail, config: { path, table, id } },
  };
}

import { canonicalize } from '../../../core/base/canonical.ts';
import { WritError } from '../../../core/base/errors.ts';
import { quoted } from '../../../core/base/quoted.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { WritConfig } from '../../config/config.ts';
import type { ConfiguredCheck } from '../../config/configured-check.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { withChecks } from './with-checks.ts';

type Factors = Pick<WritConfig, 'factors'>;

/**
 * The contract with the checks that the configuration gives its risk factors, after its own in each stage. They stand
 * under the contract's own `toolAcl`. A check that two factors share is added once; an id that already means something
 * else is CONFIG_INVALID. Pure.
 */
export function withFactorChecks(spec: EffectiveIntentSpec, config: Factors): EffectiveIntentSpec {
  const own = new Set(checksOf(spec).map(({ check }) => check.id));
  const added = new Map<string, ConfiguredCheck>();
  for (const factor of new Set(spec.risk.factors)) {
    for (const entry of config.factors.get(factor) ?? []) {
      const { id } = entry.check;
      const before = added.get(id);
      if (own.has(id)) throw collision(factor, id, 'the spec');
      if (before && canonicalize(before) !== canonicalize(entry))
        throw collision(factor, id, 'another factor');
      added.set(id, entry);
    }
  }
  if (added.size === 0) return spec;
  return withChecks(spec, [...added.values()]);
}

/** The factors of a contract that the configuration has no entry for: they add nothing, which plan and run say. */
export function factorsWithoutChecks(spec: EffectiveIntentSpec, config: Factors): readonly string[] {
  return [...new Set(spec.risk.factors)].filter((factor) => !config.factors.has(factor));
}

/** What is said of one of those. */
export function factorWithoutChecks(factor: string): string {
  return `\`risk.factors\` names ${quoted(factor)}, for which \`.writ/config.toml\` at the policy commit adds no checks`;
}

function collision(factor: string, id: string, other: string): WritError {
  return new WritError('CONFIG_INVALID', {
    message: `the check \`${id}\` of the risk factor \`${factor}\` has the id of another check, of ${other}`,
    detail: { factor, check_id: id },
    hints: ['give the check in `.writ/config.toml` an id of its own, or drop the one in the spec'],
  });
}

import { nearestName } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { judgeRule } from '../../core/kernel/rules.ts';
import type { OpenPolicies } from '../state/policies.ts';
import type { RuleQuestion } from './ask-rules.ts';

/**
 * Evaluates one policy of a policy engine in the worker pool: `cedar release`. Returns `undefined` if no engine has
 * that name. Refuses if the policy is not configured for this engine or no policy is named, because no rule would be
 * evaluated.
 */
export async function askPolicy(
  { engine, input, signal }: RuleQuestion,
  policies: OpenPolicies,
  engineName: string,
  args: readonly string[],
): Promise<readonly Finding[] | undefined> {
  if (!policies.engineNames.includes(engineName)) return undefined;
  const known = [...policies.byName.values()].filter((policy) => policy.engine === engineName);
  const [name = '', ...more] = args;
  const policy = known.find((one) => one.name === name);
  const policyEngine = policies.engines.get(engineName);
  if (!policy || !policyEngine || more.length > 0) {
    const names = known.map((one) => one.name);
    const meant = nearestName(name, names);
    const listed = names.length === 0 ? 'none is configured' : names.map((one) => `\`${one}\``).join(', ');
    return [
      {
        rule: engineName,
        severity: 'error',
        message: `expected \`${engineName}\` and the name of one policy (${listed})${meant === undefined ? '' : `, did you mean \`${meant}\`?`}`,
        detail: { code: 'POLICY_UNKNOWN', engine: engineName, given: args, known: names },
      },
    ];
  }
  const { module, timeoutSeconds } = policyEngine;
  const rule = {
    id: engineName,
    point: 'patch',
    module,
    ...(timeoutSeconds ? { timeoutSeconds } : {}),
  } as const;
  const { files } = policy;
  return judgeRule(
    rule,
    { ...input, args: [], files: {}, options: {}, policy: { name, files } },
    engine.pool,
    signal,
  );
}

import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import type { Finding, RuleFunction } from '../../plugin.ts';
import { type Request, toRequests } from './facts.ts';
import { type NamedPolicy, type PolicyFault, readPolicies } from './read-policies.ts';
import { schema } from './schema.ts';

const rule = 'cedar';
const maxFindings = 500;
const maxMessage = 2000;
const cached = 'writ';

/**
 * Asks Cedar whether the change may be committed and each file may be changed. What no policy permits is denied, and
 * `forbid` overrides `permit`; a denial names the policies that decided. A policy that is not valid, or that cannot be
 * evaluated, has refused.
 */
export const judge: RuleFunction = async (input) => {
  const { policy } = input;
  if (!policy) return [failure('POLICY_INVALID', 'expected a policy, found none', {})];
  const cedar = (await import('@cedar-policy/cedar-wasm/nodejs')) as typeof Cedar;
  const { policies, faults } = readPolicies(cedar, policy);
  const invalid = ordered(faults.length > 0 ? faults : validate(cedar, policies));
  if (invalid.length > 0)
    return invalid.slice(0, maxFindings).map(({ path, message }) => {
      const what = `policy \`${policy.name}\` (\`${path}\`) is not valid: ${message}`;
      return failure('POLICY_INVALID', what, { policy: policy.name, file: path });
    });
  const findings: Finding[] = [];
  for (const request of toRequests(input)) {
    findings.push(...ask(cedar, policy.name, policies, request));
    if (findings.length < maxFindings) continue;
    findings.push(failure('POLICY_DENIED', 'further denials are not listed', { policy: policy.name }));
    break;
  }
  return findings;
};

/** Cedar answers in the order of its hash tables: the same policy must give the same findings in the same order. */
function ordered(faults: readonly PolicyFault[]): readonly PolicyFault[] {
  const keyed = new Map(faults.map((fault) => [`${fault.path}\n${fault.message}`, fault]));
  return [...keyed].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, fault]) => fault);
}

function validate(cedar: typeof Cedar, policies: readonly NamedPolicy[]): readonly PolicyFault[] {
  const set = { staticPolicies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) };
  const pathOf = (id: string) => policies.find((one) => one.id === id)?.path ?? id;
  const answer = cedar.validate({ schema, policies: set, validationSettings: { mode: 'strict' } });
  if (answer.type === 'failure')
    return answer.errors.map(({ message }) => ({ path: policies[0]?.path ?? '', message }));
  const wrong = answer.validationErrors.map(({ policyId, error }) => ({
    path: pathOf(policyId),
    message: error.message,
  }));
  if (wrong.length > 0) return wrong;
  const told = [cedar.preparsePolicySet(cached, set), cedar.preparseSchema(cached, schema)];
  return told.flatMap((one) =>
    one.type === 'failure'
      ? one.errors.map(({ message }) => ({ path: policies[0]?.path ?? '', message }))
      : [],
  );
}

function ask(
  cedar: typeof Cedar,
  name: string,
  policies: readonly NamedPolicy[],
  { path, ...request }: Request,
): readonly Finding[] {
  const answer = cedar.statefulIsAuthorized({
    ...request,
    preparsedPolicySetId: cached,
    preparsedSchemaName: cached,
    validateRequest: true,
  });
  const action = request.action.id;
  const place = path === undefined ? {} : { path };
  if (answer.type === 'failure') {
    const why = answer.errors
      .map(({ message }) => message)
      .sort()
      .join('; ');
    return [
      {
        ...failure('POLICY_FAULT', `policy \`${name}\` could not be asked: ${why}`, { policy: name }),
        ...place,
      },
    ];
  }
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) {
    const errors = [...diagnostics.errors].sort((left, right) => (left.policyId < right.policyId ? -1 : 1));
    const ids = errors.map(({ policyId }) => policyId);
    const why = errors.map(({ policyId, error }) => `\`${policyId}\`: ${error.message}`).join('; ');
    const detail = { policy: name, action, policies: ids };
    return [
      {
        ...failure('POLICY_FAULT', `policy \`${name}\` failed to judge \`${action}\`: ${why}`, detail),
        ...place,
      },
    ];
  }
  if (decision === 'allow') return [];
  const ids = [...diagnostics.reason].sort();
  const told = ids.map((id) => {
    const reason = policies.find((one) => one.id === id)?.reason;
    return reason === undefined ? `\`${id}\`` : `\`${id}\` (${reason})`;
  });
  const why = ids.length === 0 ? 'no policy permits it' : `forbidden by ${told.join(', ')}`;
  const detail = { policy: name, action, policies: ids };
  return [
    { ...failure('POLICY_DENIED', `policy \`${name}\` denies \`${action}\`: ${why}`, detail), ...place },
  ];
}

function failure(code: string, message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule, severity: 'error', message: message.slice(0, maxMessage), detail: { code, ...detail } };
}

/** The policy engine `cedar`: policies in the Cedar language, validated against a schema of the facts. */
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import type { Finding, PolicyText } from '../../plugin.ts';
import {
  answerAll,
  invalidPolicy,
  type PolicyFault,
  type PolicyQuestion,
  policyFinding,
  policyRule,
  policyText,
} from './questions.ts';

/**
 * What a policy may speak of (Cedar schema syntax). Every policy is validated against it, so that a misspelt fact is an
 * error.
 */
const schema = `
entity Actor = { kind: String };
entity Change = {
  changeType: String,
  risk: String,
  files: Long,
  binaryFiles: Long,
  linesAdded: Long,
  linesDeleted: Long,
  paths: Set<String>,
  directories: Set<String>,
  extensions: Set<String>,
  artifacts: Set<String>
};
entity File = {
  path: String,
  oldPath?: String,
  directory: String,
  directories: Set<String>,
  extension: String,
  changeType: String,
  binary: Bool,
  executable: Bool,
  linesAdded: Long,
  linesDeleted: Long
};
type Facts = {
  stage: String,
  checks: { passed: Set<String>, failed: Set<String>, waiting: Set<String> },
  findings: { rules: Set<String>, errors: Long, warnings: Long, notes: Long },
  approvals: { approvers: Set<String>, rejecters: Set<String>, groups: Set<String>, roles: Set<String>, count: Long }
};
action commit appliesTo { principal: [Actor], resource: [Change], context: Facts };
action change appliesTo { principal: [Actor], resource: [File], context: Facts };
`;

const engine = 'cedar';
/** Names of the parsed policies and schema in Cedar's memory. */
const parsed = 'writ';

/** One policy of a file. */
interface NamedPolicy {
  /** `@id`, else the file and the number of the policy. */
  readonly id: string;
  readonly text: string;
  readonly path: string;
  /** `@reason`: why it forbids, for people. */
  readonly reason?: string;
}

/**
 * Denies what no policy permits; `forbid` overrides `permit`, and a denial names the deciding policies. A policy that
 * is not valid, or that cannot be evaluated, is a finding as well.
 */
export const judge = policyRule(engine, async (policy, input) => {
  const cedar = (await import('@cedar-policy/cedar-wasm/nodejs')) as typeof Cedar;
  const { policies, faults } = readPolicies(cedar, policy);
  const invalid = faults.length > 0 ? faults : validate(cedar, policies);
  if (invalid.length > 0) return invalidPolicy(engine, policy.name, invalid);
  return answerAll(engine, policy.name, input, (question) =>
    authorize(cedar, policy.name, policies, question),
  );
});

/** Policies of the files with everything that is wrong with them. A file without a policy is a fault. */
function readPolicies(
  cedar: typeof Cedar,
  { files }: PolicyText,
): { readonly policies: readonly NamedPolicy[]; readonly faults: readonly PolicyFault[] } {
  const policies: NamedPolicy[] = [];
  const faults: PolicyFault[] = [];
  for (const { path, bytes } of files) {
    const text = policyText(bytes);
    if (text === undefined) {
      faults.push({ path, message: 'expected UTF-8' });
      continue;
    }
    const parts = cedar.policySetTextToParts(text);
    if (parts.type === 'failure') {
      faults.push(...parts.errors.map(({ message }) => ({ path, message })));
      continue;
    }
    if (parts.policy_templates.length > 0) faults.push({ path, message: 'templates are not supported' });
    if (parts.policies.length === 0) faults.push({ path, message: 'it holds no policy' });
    for (const [index, policy] of parts.policies.entries()) {
      const json = cedar.policyToJson(policy);
      const annotations = json.type === 'success' ? (json.json.annotations ?? {}) : {};
      const { id = `${path}#${index + 1}`, reason } = annotations;
      if (policies.some((one) => one.id === id))
        faults.push({ path, message: `the id \`${id}\` is given twice` });
      else policies.push({ id, text: policy, path, ...(typeof reason === 'string' ? { reason } : {}) });
    }
  }
  return { policies, faults };
}

function validate(cedar: typeof Cedar, policies: readonly NamedPolicy[]): readonly PolicyFault[] {
  const set = { staticPolicies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) };
  const pathOf = (id: string) => policies.find((one) => one.id === id)?.path ?? id;
  const firstPath = policies[0]?.path ?? '';
  const answer = cedar.validate({ schema, policies: set, validationSettings: { mode: 'strict' } });
  if (answer.type === 'failure') return answer.errors.map(({ message }) => ({ path: firstPath, message }));
  const wrong = answer.validationErrors.map(({ policyId, error }) => ({
    path: pathOf(policyId),
    message: error.message,
  }));
  if (wrong.length > 0) return wrong;
  return [cedar.preparsePolicySet(parsed, set), cedar.preparseSchema(parsed, schema)].flatMap((one) =>
    one.type === 'failure' ? one.errors.map(({ message }) => ({ path: firstPath, message })) : [],
  );
}

function authorize(
  cedar: typeof Cedar,
  name: string,
  policies: readonly NamedPolicy[],
  question: PolicyQuestion,
): readonly Finding[] {
  const { action } = question;
  const path = question.file?.path;
  const place = path === undefined ? {} : { path };
  const answer = cedar.statefulIsAuthorized({
    ...toRequest(question),
    preparsedPolicySetId: parsed,
    preparsedSchemaName: parsed,
    validateRequest: true,
  });
  if (answer.type === 'failure') {
    const why = answer.errors
      .map(({ message }) => message)
      .sort()
      .join('; ');
    const message = `policy \`${name}\` could not be asked: ${why}`;
    return [policyFinding(engine, 'POLICY_FAULT', message, { policy: name, ...place })];
  }
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) {
    const errors = [...diagnostics.errors].sort((left, right) => (left.policyId < right.policyId ? -1 : 1));
    const ids = errors.map(({ policyId }) => policyId);
    const why = errors.map(({ policyId, error }) => `\`${policyId}\`: ${error.message}`).join('; ');
    const message = `policy \`${name}\` failed to evaluate \`${action}\`: ${why}`;
    return [
      policyFinding(engine, 'POLICY_FAULT', message, { policy: name, action, policies: ids, ...place }),
    ];
  }
  if (decision === 'allow') return [];
  const ids = [...diagnostics.reason].sort();
  const reasons = ids.map((id) => {
    const reason = policies.find((one) => one.id === id)?.reason;
    return reason === undefined ? `\`${id}\`` : `\`${id}\` (${reason})`;
  });
  const why = ids.length === 0 ? 'no policy permits it' : `forbidden by ${reasons.join(', ')}`;
  const message = `policy \`${name}\` denies \`${action}\`: ${why}`;
  return [policyFinding(engine, 'POLICY_DENIED', message, { policy: name, action, policies: ids, ...place })];
}

/** The question in Cedar's words: principal, action, resource, context, and the entities with their attributes. */
function toRequest({ action, user, digest, change, file, context }: PolicyQuestion) {
  const principal = { type: 'Actor', id: user.id };
  const resource = file ? { type: 'File', id: file.path } : { type: 'Change', id: digest };
  return {
    principal,
    action: { type: 'Action', id: action },
    resource,
    context: toCedar(context),
    entities: [
      { uid: principal, attrs: { kind: user.kind }, parents: [] },
      { uid: resource, attrs: toCedar(file ?? change), parents: [] },
    ],
  };
}

/** The facts are JSON already. The copy has Cedar's type, which has mutable arrays. */
function toCedar(facts: object): Cedar.Context {
  return structuredClone(facts) as Cedar.Context;
}

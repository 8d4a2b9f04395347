/* Semantic rules on risk, people, tools and secrets. */
import { appendPointer } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/printable.ts';
import { error, type Issue, warning } from '../../core/interfaces/finding.ts';
import type { IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { checksOf, isDomainPattern, isToolConstraintKey, toolConstraintShapes } from '../checks-of.ts';
import { isApproverCheck, leastApprovers, type Partly } from '../facts.ts';
import { findSecurityWord } from '../secret-words.ts';

/**
 * High risk: human loop, two approvers, a `require-approvers` policy check before release, one task at a time (document
 * 1, Risk).
 */
export function highRisk(spec: Partly<IntentSpec>): readonly Issue[] {
  if (spec.risk?.level !== 'high') return [];
  const { required, minApprovers } = spec.risk.humanInLoop ?? {};
  const issues: Issue[] = [];
  if (required === false) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_HUMAN_LOOP',
        '/risk/humanInLoop/required',
        'expected true at high risk, found false',
      ),
    );
  }
  if (minApprovers !== undefined && minApprovers < 2) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_APPROVERS',
        '/risk/humanInLoop/minApprovers',
        `expected at least 2 at high risk, found ${minApprovers}`,
      ),
    );
  }
  const asksPeople = checksOf(spec, ['releaseChecks']).some(({ check }) => isApproverCheck(check));
  if (spec.acceptance?.verificationPlan?.releaseChecks && !asksPeople) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_REQUIRE_APPROVERS',
        '/acceptance/verificationPlan/releaseChecks',
        'expected a `policy` check with the command `require-approvers` at high risk',
      ),
    );
  }
  const parallel = spec.execution?.concurrency?.maxParallelTasks;
  if (parallel !== undefined && parallel > 1) {
    issues.push(
      warning(
        'SEMANTIC_HIGH_RISK_PARALLEL',
        '/execution/concurrency/maxParallelTasks',
        `expected 1 at high risk, found ${parallel}; 1 is used`,
      ),
    );
  }
  return issues;
}

const networkKeys = ['networkHosts', 'networkReason'] as const;

/** ToolRule constraints are known and usable; each other one is a warning here and fails closed at run time. */
export function toolConstraints(spec: Partly<IntentSpec>): readonly Issue[] {
  return (['allow', 'deny'] as const).flatMap((list) =>
    (spec.security?.toolAcl?.[list] ?? []).flatMap((rule, index) => {
      const at = `/security/toolAcl/${list}/${index}/constraints`;
      const constraints = rule?.constraints ?? {};
      const judged = Object.entries(constraints).flatMap(([key, value]) =>
        judge(key, value, appendPointer(at, key)),
      );
      const [key, other] = networkKeys.filter((one) => Object.hasOwn(constraints, one));
      if (key === undefined || other !== undefined) return judged;
      const missing = networkKeys.find((one) => one !== key);
      const message = `expected a \`${missing}\` beside it; at run time the rule fails closed`;
      return [...judged, warning('SEMANTIC_TOOL_CONSTRAINT_VALUE', `${at}/${key}`, message)];
    }),
  );
}

function judge(key: string, value: unknown, path: string): readonly Issue[] {
  if (!isToolConstraintKey(key)) {
    return [
      warning(
        'SEMANTIC_TOOL_CONSTRAINT_UNKNOWN',
        path,
        `expected a known constraint, found ${quoted(key)}; at run time the rule fails closed`,
      ),
    ];
  }
  const { expected, holds } = toolConstraintShapes[key];
  if (holds(value)) return [];
  return [
    warning(
      'SEMANTIC_TOOL_CONSTRAINT_VALUE',
      path,
      `expected ${expected}; at run time the rule fails closed`,
    ),
  ];
}

/** Policy checks of the release stage that wait for `minApprovers` people, whether or not a human loop is required. */
const asksPeople: ReadonlySet<string> = new Set([
  'require-approvers',
  'new-dependency',
  'licenses',
  'judge-changed',
]);

/**
 * A human loop needs a person: `required` demands at least one approver. Approvers without `required` count only if a
 * release check waits for approvals. Otherwise no approval is awaited, and an issue reports that.
 */
export function humanLoopApprovers(spec: Partly<IntentSpec>): readonly Issue[] {
  const { required, minApprovers } = spec.risk?.humanInLoop ?? {};
  if (required === true && minApprovers === 0)
    return [
      error(
        'SEMANTIC_HUMAN_LOOP_APPROVERS',
        '/risk/humanInLoop/minApprovers',
        'expected at least 1 where a human loop is required, found 0',
      ),
    ];
  if (required !== false || minApprovers === undefined || minApprovers === 0) return [];
  const isAsked = checksOf(spec, ['releaseChecks']).some(
    ({ check: { kind, command } }) =>
      kind === 'policy' && asksPeople.has(command?.trim().split(/\s+/, 1)[0] ?? ''),
  );
  if (isAsked) return [];
  return [
    warning(
      'SEMANTIC_HUMAN_LOOP_UNASKED',
      '/risk/humanInLoop/required',
      `expected true if approvers are named, found false: no run waits for the ${minApprovers} of \`minApprovers\``,
    ),
  ];
}

/** Medium risk without a human loop warns where summary, scope or touch hints speak of security code. */
export function mediumRiskSecurityCode(spec: Partly<IntentSpec>, words: readonly string[]): readonly Issue[] {
  if (spec.risk?.level !== 'medium' || spec.risk.humanInLoop?.required !== false) return [];
  const { summary, inScope, touchHints } = spec.intent ?? {};
  const texts = [
    summary,
    ...(inScope ?? []),
    ...(touchHints?.files ?? []),
    ...(touchHints?.symbols ?? []),
    ...(touchHints?.apis ?? []),
  ];
  for (const text of texts) {
    const word = text === undefined ? undefined : findSecurityWord(text, words);
    if (word !== undefined) {
      return [
        warning(
          'SEMANTIC_MEDIUM_RISK_SECURITY_CODE',
          '/risk/humanInLoop/required',
          `expected a human loop where security code is touched, found ${quoted(word)} in the intent`,
        ),
      ];
    }
  }
  return [];
}

/** Domain patterns are well formed. `*` alone is allowed only in `blockedDomains`. */
export function domainPatterns(spec: Partly<IntentSpec>): readonly Issue[] {
  return (['allowedDomains', 'blockedDomains'] as const).flatMap((list) =>
    (spec.evidence?.[list] ?? []).flatMap((pattern, index) => {
      if (pattern === undefined || isDomainPattern(pattern) || (list === 'blockedDomains' && pattern === '*'))
        return [];
      const message = `expected a host name, \`*.domain\` or an IP literal, without scheme, port or path, found ${quoted(pattern)}`;
      return [error('SEMANTIC_DOMAIN_PATTERN', `/evidence/${list}/${index}`, message)];
    }),
  );
}

/**
 * Secrets that can change something (`allow-scoped`) need a justification: the rationale names each scope. They also
 * need elevated approval: a release check with the four eyes of high risk.
 */
export function writingSecrets(spec: Partly<IntentSpec>): readonly Issue[] {
  const { policy, allowedScopes = [] } = spec.security?.secrets ?? {};
  if (policy !== 'allow-scoped') return [];
  const { rationale, humanInLoop } = spec.risk ?? {};
  const unnamed = allowedScopes.filter(
    (scope) => scope !== undefined && rationale?.includes(scope) === false,
  );
  const issues = unnamed.map((scope) =>
    error(
      'SEMANTIC_WRITING_SECRETS_UNJUSTIFIED',
      '/risk/rationale',
      `expected why \`allow-scoped\` gives ${quoted(scope ?? '')}, found no word of that scope`,
    ),
  );
  const { required, minApprovers } = humanInLoop ?? {};
  const release = spec.acceptance?.verificationPlan?.releaseChecks;
  const asksPeople = checksOf(spec, ['releaseChecks']).some(
    ({ check }) => isApproverCheck(check) && check.required !== false,
  );
  const found = [
    ...(required === false ? ['`required` false'] : []),
    ...(minApprovers !== undefined && minApprovers < leastApprovers
      ? [`\`minApprovers\` ${minApprovers}`]
      : []),
    ...(release && !asksPeople ? ['no required `require-approvers` check in `releaseChecks`'] : []),
  ];
  if (found.length === 0) return issues;
  const wanted = `expected a human loop of at least ${leastApprovers} approvers, and a release check that waits for them`;
  return [
    ...issues,
    error(
      'SEMANTIC_WRITING_SECRETS_APPROVERS',
      '/risk/humanInLoop',
      `${wanted}, where secrets are \`allow-scoped\`; found ${found.join(', ')}`,
    ),
  ];
}

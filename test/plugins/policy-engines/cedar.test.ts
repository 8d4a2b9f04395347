import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import type { Rule } from '../../../core/interfaces/rule.ts';
import { type GateCase, gateTester } from '../../../testing.ts';
import { long } from '../../rooms/long.ts';

const folder = new URL('../../../plugins/policy-engines/', import.meta.url);
const rule: Rule = { id: 'cedar', point: 'release', module: new URL('cedar.ts', folder) };
const permitAll = '@id("anybody") permit (principal, action, resource);\n';
const policyOf = (...texts: readonly (string | Buffer)[]): NonNullable<GateCase['policy']> => ({
  name: 'release',
  files: texts.map((text, index) => ({
    path: `policies/${index}.cedar`,
    bytes: Buffer.from(text as string),
  })),
});
const files = { 'src/a.js': { base: 'one\n', candidate: 'two\n' }, 'infra/x.tf': { candidate: 'x\n' } };
const denied = (action: string, policies: readonly string[], path?: string) => ({
  rule: 'cedar',
  severity: 'error' as const,
  detail: { code: 'POLICY_DENIED', policy: 'release', action, policies },
  ...(path === undefined ? {} : { path }),
});
const check = (id: string, status: 'passed' | 'failed', severity: 'error' | 'warning') =>
  ({
    id,
    kind: 'command',
    stage: 'release',
    status,
    required: false,
    command: 'true',
    expectedExitCode: 0,
    timedOut: false,
    durationMs: 1,
    startedAt: '2025-05-06T07:08:09Z',
    artifacts: [],
    findings: [{ rule: 'check-outcome', severity, message: 'x' }],
  }) as const;
const approval = (principal: string, status: 'counts' | 'expired') =>
  ({
    source: 'x',
    digest: 'x',
    decision: 'approve',
    principal,
    keyId: 'x',
    signedAt: '2025-05-06T07:08:09Z',
    status,
    role: 'security',
  }) as const;

long('permits what a policy permits and names the policies behind a denial', async (t) => {
  const forbidInfra = `@id("no-infra") @reason("ask the platform team")
    forbid (principal, action == Action::"change", resource is File) when { resource.path like "infra/*" };`;
  const whenApproved = `permit (principal, action, resource) when {
    context.approvals.approvers.contains("ana@example.org") && context.approvals.groups.contains("release") };`;
  await gateTester(t, rule, {
    valid: [
      { name: 'what a policy permits passes', files, policy: policyOf(permitAll) },
      {
        name: 'an approval that counts permits',
        files,
        policy: policyOf(whenApproved),
        approvals: [approval('ana@example.org', 'counts')],
        approvalGroups: { release: ['Ana@example.org'] },
      },
      {
        name: 'facts of the change are what the diff says',
        files,
        spec: { risk: { level: 'medium' } },
        policy: policyOf(
          permitAll,
          `forbid (principal, action == Action::"commit", resource) unless {
             resource.paths == ["src/a.js", "infra/x.tf"] && resource.linesAdded == 2 && resource.linesDeleted == 1
             && resource.extensions.containsAll(["js", "tf"]) && resource.directories.contains("src")
             && resource.risk == "medium" && resource.files == 2 && resource.binaryFiles == 0 };`,
        ),
      },
    ],
    invalid: [
      {
        name: 'what no policy permits is denied',
        files: { 'a.js': { candidate: 'x\n' } },
        policy: policyOf('permit (principal, action, resource) when { context.stage == "nowhere" };'),
        expect: [denied('commit', []), denied('change', [], 'a.js')],
      },
      {
        name: 'a forbid overrides a permit and is named',
        files,
        policy: policyOf(permitAll, forbidInfra),
        expect: [denied('change', ['no-infra'], 'infra/x.tf')],
      },
      {
        name: 'a file that moves away is asked about where it was',
        files: { 'src/x.tf': { base: 'x\n', candidate: 'x\n', oldPath: 'infra/x.tf' } },
        policy: policyOf(
          permitAll,
          forbidInfra,
          '@id("no-tf") forbid (principal, action == Action::"commit", resource) when { resource.directories.contains("infra") };',
        ),
        expect: [denied('commit', ['no-tf']), denied('change', ['no-infra'], 'infra/x.tf')],
      },
      {
        name: 'an approval that does not count permits nothing',
        policy: policyOf(whenApproved),
        approvals: [approval('ana@example.org', 'expired')],
        approvalGroups: { release: ['ana@example.org'] },
        expect: [denied('commit', [])],
      },
      {
        name: 'findings and outcomes of earlier checks are known',
        policy: policyOf(
          permitAll,
          `forbid (principal, action, resource) when { context.checks.failed.contains("slow")
             && context.findings.errors == 1 && context.findings.rules.contains("check-outcome") };`,
        ),
        stage: {
          name: 'release',
          checks: [check('slow', 'failed', 'error'), check('quick', 'passed', 'warning')],
        },
        expect: [denied('commit', ['policies/1.cedar#1'])],
      },
    ],
  });
});

t.test('a policy that cannot be evaluated refuses the change', async (t) => {
  const broken: Record<string, readonly (string | Buffer)[]> = {
    'one that does not parse': ['permit (principal, action'],
    'one that misspells a fact': ['permit (principal, action, resource) when { context.stagee == "fast" };'],
    'one that misspells a fact where nothing looks': [
      'permit (principal, action, resource) unless { context.approvals.count < 0 && context.stagee == "fast" };',
    ],
    'one that asks a file of the whole change': [
      'permit (principal, action == Action::"commit", resource) when { resource.path == "x" };',
    ],
    'an empty one': ['// nothing\n'],
    'a template': ['permit (principal == ?principal, action, resource);'],
    'bytes that are no text': [Buffer.from([0xff, 0xfe])],
    'two of one name': [
      `@id("x") ${'permit (principal, action, resource);'}\n@id("x") permit (principal, action, resource);`,
    ],
  };
  await gateTester(t, rule, {
    valid: [],
    invalid: [
      ...Object.entries(broken).map(([name, texts]) => ({ name, policy: policyOf(...texts) })),
      { name: 'none at all', expect: [{ rule: 'cedar', detail: { code: 'POLICY_INVALID' } }] },
      {
        name: 'the author of the fault is named',
        policy: policyOf(permitAll, 'permit (principal'),
        expect: [
          {
            severity: 'error',
            detail: { code: 'POLICY_INVALID', policy: 'release', file: 'policies/1.cedar' },
          },
        ],
      },
      {
        name: 'an overflow while judging',
        policy: policyOf(
          permitAll,
          'forbid (principal, action == Action::"commit", resource) when { resource.files + 9223372036854775807 > 0 };',
        ),
        files: { 'a.js': { candidate: 'x\n' } },
        expect: [{ rule: 'cedar', severity: 'error' }],
      },
    ],
  });
});

t.test('the policy engines import only public entry points', async (t) => {
  for (const name of readdirSync(folder)) {
    const specifiers = [
      ...readFileSync(new URL(name, folder), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g),
    ];
    for (const [, specifier = ''] of specifiers)
      t.match(
        specifier,
        /^(?:\.\/[a-z-]+\.ts|\.\.\/\.\.\/plugin\.ts|@cedar-policy\/cedar-wasm\/nodejs|@bufbuild\/cel|@open-policy-agent\/opa-wasm)$/,
        name,
      );
  }
});

import t from 'tap';
import { applyDefaults } from '../../spec/document-schema.ts';
import { draftFromProfile } from '../../spec/profile.ts';
import { strictFields, tighten } from '../../spec/stricter.ts';

const profile = draftFromProfile({
  risk: 'medium',
  id: '0198c1e2-0000-7000-8000-000000000000',
  createdAt: '2025-01-01T00:00:00Z',
  createdBy: { type: 'user', id: 'ana' },
  repo: { type: 'local', locator: '/repo' },
  baseRef: 'main',
});
const given = applyDefaults(profile);

/** For each field: what is looser than a medium profile or no value at all, and what is stricter. */
const rows: Readonly<Record<string, { readonly loose: readonly unknown[]; readonly strict?: unknown }>> = {
  'acceptance.qualityGates.requireNewTestsWhenBugfix': { loose: [false, 'yes'] },
  'acceptance.qualityGates.maxAllowedRegression': { loose: ['low', 'medium', 'huge'] },
  'constraints.security.networkPolicy': { loose: ['allow', 'ALLOW', ['deny']] },
  'constraints.security.dependencyPolicy': { loose: ['allow', ''], strict: 'no-new' },
  'constraints.privacy.dataClassesAllowed': { loose: [['public', 'secrets'], 'public'], strict: [] },
  'constraints.privacy.redactionRequired': { loose: [false, null] },
  'constraints.privacy.retentionDays': { loose: [3650, 0, -1, 1.5, '1'], strict: 7 },
  'constraints.licensing.allowedSpdx': { loose: ['MIT', [1]], strict: ['MIT'] },
  'constraints.licensing.forbidNewLicenses': { loose: ['true'], strict: true },
  'constraints.resources.maxWallClockSeconds': { loose: [604_800, 0, 1], strict: 600 },
  'constraints.resources.maxCostUnits': { loose: [0, -5], strict: 500 },
  'risk.humanInLoop.required': { loose: [false] },
  'risk.humanInLoop.minApprovers': { loose: [0, 11, 1.5], strict: 2 },
  'evidence.strategy': { loose: ['open-web', 'pinned-official'] },
  'evidence.trustTiers': { loose: [['repo', 'web'], []], strict: ['repo'] },
  'evidence.domainAllowlistMode': { loose: ['disabled'] },
  'evidence.allowedDomains': { loose: [['*.example.org'], ['evil.example']] },
  'evidence.blockedDomains': { loose: ['*'], strict: ['*'] },
  'evidence.minCitationsPerDecision': { loose: [0, 1, 21], strict: 3 },
  'security.secrets.policy': { loose: ['allow-scoped', 'read-only-scoped'] },
  'security.secrets.allowedScopes': { loose: [['npm']] },
  'security.promptInjection.treatRetrievedContentAsUntrusted': { loose: [false] },
  'security.promptInjection.enforceOutputSchema': { loose: [false] },
  'security.promptInjection.disallowInstructionFromEvidence': { loose: [false] },
  'security.outputHandling.encodingPolicy': { loose: ['none', 'strict-json'] },
  'security.outputHandling.noDirectEval': { loose: [false] },
  'execution.retry.maxRetries': { loose: [20, 4, -1], strict: 0 },
  'execution.concurrency.maxParallelTasks': { loose: [128, 5, 0], strict: 1 },
  'artifacts.retention.days': { loose: [3650, 0], strict: 30 },
  'provenance.requireSlsaProvenance': { loose: [false] },
  'provenance.requireSbom': { loose: [false] },
  'provenance.transparencyLog.mode': { loose: ['public-log'], strict: 'internal-ledger' },
  'objmodel.decisionPolicy.abandonOnSecurityGateFail': { loose: [false] },
  'objmodel.decisionPolicy.rollbackOnProvenanceFail': { loose: [false] },
};

function at(root: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], root);
}

t.test('every field that a draft may tighten has a row in this test', async (t) => {
  t.strictSame(strictFields.map(({ field }) => field).sort(), Object.keys(rows).sort());
});

for (const [field, { loose, strict }] of Object.entries(rows)) {
  t.test(`\`${field}\` only becomes stricter`, async (t) => {
    for (const value of loose) {
      const { document, judged } = tighten(profile, given, [{ field, value }]);
      t.strictSame(document, profile, `${JSON.stringify(value)} changes nothing`);
      t.match(judged, [{ field, granted: false }]);
    }
    const asked = strict ?? at(given, field);
    const { document } = tighten(profile, given, [{ field, value: asked }]);
    t.strictSame(at(applyDefaults(document), field), asked, 'what is as strict is granted');
    if (strict === undefined) return;
    // A second wish is held to what the first one was granted.
    const back = tighten(profile, given, [
      { field, value: strict },
      { field, value: at(given, field) },
    ]);
    t.strictSame(at(back.document, field), strict, 'what was granted is not taken back');
  });
}

t.test('a second request may not loosen what the first one tightened', async (t) => {
  const field = 'execution.retry.maxRetries';
  const wishes = [0, 2].map((value) => ({ field, value }));
  const { document, judged } = tighten(profile, given, wishes);
  t.equal(document.execution.retry.maxRetries, 0);
  t.match(judged, [{ granted: true }, { asked: 2, given: 0, granted: false }]);
});

t.test('a request for any other field is denied', async (t) => {
  for (const field of ['security.toolAcl.allow', 'lifecycle.status', '__proto__.polluted', '']) {
    const { document, judged } = tighten(profile, given, [{ field, value: true }]);
    t.strictSame(document, profile);
    t.match(judged, [{ granted: false }]);
  }
});

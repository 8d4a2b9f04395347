import t from 'tap';
import type { ChangeType, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { type DraftRequest, draftFromProfile } from '../../spec/profile.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { bytesOf } from './sample.ts';

const request: Omit<DraftRequest, 'risk'> = {
  id: '01J9ZC3V6T8M2K4N5P7Q9R1S3T',
  createdAt: '2026-02-03T08:15:00Z',
  createdBy: { type: 'user', id: 'somebody' },
  repo: { type: 'local', locator: '/srv/storefront' },
  baseRef: 'main',
};

t.test('the draft of every risk level is a valid draft that warns only about template words', async (t) => {
  for (const risk of ['low', 'medium', 'high'] as const) {
    const draft = draftFromProfile({ ...request, risk });
    t.strictSame(
      readIntentSpec(bytesOf(draft)).issues.map(({ code, path, severity }) => [code, path, severity]),
      [
        '/intent/summary',
        '/intent/problemStatement',
        '/intent/objectives/0',
        '/intent/inScope/0',
        '/acceptance/successCriteria/0',
        '/risk/rationale',
      ].map((path) => ['SEMANTIC_TEMPLATE_WORDS', path, 'warning']),
      risk,
    );
    t.equal(draft.lifecycle.status, 'draft');
    t.equal(draft.risk.level, risk);
  }
});

t.test('a draft takes its policy from the profile of its risk level', async (t) => {
  const facts = (['low', 'medium', 'high'] as const).map((risk) => {
    const {
      constraints,
      evidence,
      execution,
      artifacts,
      risk: declared,
    } = draftFromProfile({ ...request, risk });
    return [
      declared.humanInLoop.minApprovers,
      declared.humanInLoop.required,
      constraints.security.dependencyPolicy,
      constraints.security.networkPolicy,
      constraints.privacy.dataClassesAllowed.join(),
      constraints.privacy.redactionRequired,
      constraints.privacy.retentionDays,
      constraints.resources?.maxWallClockSeconds,
      evidence.minCitationsPerDecision,
      execution.retry.maxRetries,
      execution.concurrency?.maxParallelTasks,
      artifacts.required.map(({ name }) => name).join(' '),
    ];
  });
  t.strictSame(facts, [
    [0, false, 'no-new', 'deny', 'public', true, 7, 3600, 0, 3, 2, 'patchset test-log'],
    [
      1,
      true,
      'allow-with-review',
      'deny',
      'public',
      true,
      30,
      14400,
      2,
      3,
      4,
      'patchset test-log sast-report sca-report sbom',
    ],
    [
      2,
      true,
      'no-new',
      'deny',
      'public',
      true,
      14,
      28800,
      3,
      2,
      1,
      'patchset test-log sast-report sca-report sbom provenance-attestation transparency-proof',
    ],
  ]);
});

t.test('the change type gives the default quality gates', async (t) => {
  const tolerated = (changeType: ChangeType, risk: RiskLevel) =>
    draftFromProfile({ ...request, risk, changeType }).acceptance.qualityGates;
  for (const risk of ['low', 'medium', 'high'] as const) {
    for (const type of ['bugfix', 'feature', 'refactor', 'performance', 'security', 'unknown'] as const)
      t.strictSame(
        tolerated(type, risk),
        { requireNewTestsWhenBugfix: true, maxAllowedRegression: 'none' },
        `${type} at ${risk} risk`,
      );
    for (const type of ['docs', 'chore'] as const)
      t.equal(
        tolerated(type, risk)?.maxAllowedRegression,
        risk === 'high' ? 'none' : 'low',
        `${type} at ${risk} risk`,
      );
  }
});

t.test('given words are copied into the draft unchanged', async (t) => {
  const draft = draftFromProfile({
    ...request,
    risk: 'low',
    summary: 'Round totals once',
    changeType: 'bugfix',
  });
  t.match(draft, {
    intent: { summary: 'Round totals once', changeType: 'bugfix' },
    metadata: { id: request.id, createdAt: request.createdAt },
  });
});

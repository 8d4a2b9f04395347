import t from 'tap';
import { applyDefaults } from '../../spec/document-schema.ts';
import { unusualFacts } from '../../spec/facts.ts';
import { draftFromProfile } from '../../spec/profile.ts';

const draft = draftFromProfile({
  id: '0198c1e2-0000-7000-8000-000000000000',
  createdAt: '2026-01-02T03:04:05.000Z',
  createdBy: { type: 'user', id: 'somebody' },
  repo: { type: 'local', locator: '.' },
  baseRef: 'main',
  risk: 'medium',
  changeType: 'feature',
});

t.test('settings that are unusual for the risk level are listed with the usual value', async (t) => {
  t.strictSame(unusualFacts(applyDefaults(draft)), [], 'as ever');
  const other = {
    ...draft,
    constraints: {
      ...draft.constraints,
      security: { ...draft.constraints.security, networkPolicy: 'allow', dependencyPolicy: 'no-new' },
    },
    risk: { ...draft.risk, humanInLoop: { required: true, minApprovers: 3 } },
    acceptance: {
      ...draft.acceptance,
      qualityGates: { ...draft.acceptance.qualityGates, maxAllowedRegression: 'low' },
    },
  } as typeof draft;
  t.strictSame(unusualFacts(applyDefaults(other)), [
    'Approvals: a person decides: at least 3 approvals (usual: a person decides: at least 1 approvals)',
    'Regression allowed: low (usual: none)',
    'Network: allow (usual: deny)',
    'New dependencies: no-new (usual: allow-with-review)',
  ]);
});

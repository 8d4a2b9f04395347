import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { applyDefaults } from './apply-defaults.ts';
import { draftFromProfile } from './profile.ts';

/** The contract that a scan without one judges by: high risk, a bugfix, the whole repository in scope. */
export function scanSpec(): EffectiveIntentSpec {
  const draft = draftFromProfile({
    risk: 'high',
    id: 'writ-scan',
    createdAt: '1970-01-01T00:00:00Z',
    createdBy: { type: 'system', id: 'writ-scan' },
    repo: { type: 'local', locator: '/' },
    baseRef: 'HEAD',
    summary: 'A scan without a contract',
    changeType: 'bugfix',
  });
  const { verificationPlan } = draft.acceptance;
  return applyDefaults({
    ...draft,
    intent: { ...draft.intent, inScope: ['the whole repository'] },
    // A scan runs nothing: the text alone decides.
    acceptance: { ...draft.acceptance, verificationPlan: { ...verificationPlan, fastChecks: [] } },
  });
}

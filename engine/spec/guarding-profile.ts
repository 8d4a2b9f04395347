import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { applyDefaults } from './apply-defaults.ts';
import { draftFromProfile } from './profile.ts';

/** The strictest profile: what guards a model's prompts and reading as long as there is no contract to say so. */
export function guardingProfile(nowMs: number): EffectiveIntentSpec {
  return applyDefaults(
    draftFromProfile({
      id: uuidV7(nowMs),
      createdAt: toRfc3339(nowMs),
      createdBy: { type: 'agent', id: 'writ' },
      repo: { type: 'local', locator: '.' },
      baseRef: 'HEAD',
      risk: 'high',
    }),
  );
}

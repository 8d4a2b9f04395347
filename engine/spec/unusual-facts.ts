import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { applyDefaults } from './apply-defaults.ts';
import { type Fact, gateFacts, limitFacts, peopleWords, provenanceFacts } from './contract-facts.ts';
import { draftFromProfile } from './profile.ts';

/**
 * What a contract settles otherwise than the profile of its risk does, one sentence each, with what is usual: what a
 * person would overlook among all that is as ever. None: it is as ever.
 */
export function unusualFacts(spec: EffectiveIntentSpec): readonly string[] {
  const { metadata, risk, intent } = spec;
  const { id, createdAt, createdBy, target } = metadata;
  const usual = new Map(
    factsOf(
      applyDefaults(
        draftFromProfile({
          id,
          createdAt,
          createdBy,
          repo: target.repo,
          baseRef: target.baseRef,
          risk: risk.level,
          changeType: intent.changeType,
        }),
      ),
    ),
  );
  return factsOf(spec).flatMap(([name, value]) => {
    const expected = usual.get(name);
    return expected === value ? [] : [`${name}: ${value} (usual: ${expected})`];
  });
}

function factsOf(spec: EffectiveIntentSpec): readonly Fact[] {
  return [
    ['Approvals', peopleWords(spec)],
    ...gateFacts(spec),
    ...limitFacts(spec),
    ...provenanceFacts(spec),
  ];
}

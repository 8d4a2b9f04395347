import type { Attempt } from '../state/open-run.ts';
import type { RuleQuestion } from './ask-rules.ts';

/** Builds the input that every rule of an attempt receives; `input` sets the point. */
export function ruleQuestion(attempt: Attempt, input: RuleQuestion['input']): RuleQuestion {
  const {
    means: { engine, scratch, signal },
    box,
    ground,
    approvals,
    rehearsal,
  } = attempt;
  const asked = {
    ...input,
    unmade: box.unmade(),
    approvals,
    approvalGroups: ground.config.approvals.groups,
    ...(rehearsal ? { rehearsal } : {}),
  };
  const { base, policy } = ground;
  return {
    engine,
    objects: scratch,
    box,
    ruleOptions: ground.config.rules,
    input: asked,
    ...(policy.tree === base.tree ? {} : { policyTree: policy.tree }),
    ...(attempt.observed ? { filled: attempt.observed.filled } : {}),
    ...(attempt.observed?.prepared ? { prepared: attempt.observed.prepared } : {}),
    prepare: ground.config.workspace.prepare,
    signal,
  };
}

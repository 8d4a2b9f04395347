import type { Attempt } from '../state/open-run.ts';
import type { RuleQuestion } from './ask-rules.ts';

/** What every rule of an attempt is asked with; `input` says at which point. */
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
    prepare: ground.config.workspace.prepare,
    signal,
  };
}

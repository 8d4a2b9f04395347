import type { EffectiveIntentSpec, ReplanTrigger } from '../../../core/contract/intentspec.gen.ts';
import { always, inSection, withModel } from '../contract-row.ts';

export const executionRows = inSection('Execution policy', [
  {
    id: 'execution.retry.maxRetries',
    path: '/execution/retry/maxRetries',
    rule: 'attempts of a Task after its first; then Decision.Abandon',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'execution.retry.backoffSeconds',
    path: '/execution/retry/backoffSeconds',
    rule: 'wait before the n-th retry: backoffSeconds × 2^(n-1), at most 3600 seconds',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers',
    path: '/execution/replan/triggers',
    rule: 'each causes a new revision of the Plan',
    asks: (spec, { model }) => model && spec.execution.replan.triggers.length > 0,
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers#supplied-patch',
    path: '/execution/replan/triggers',
    rule: 'what would replan ends a supplied patch in abandon, with its reason',
    asks: (_spec, { model }) => !model,
    enforcedBy: 'core',
  },
  ...(
    [
      ['scope-creep', 'an error of rule `scope`: a file out of scope was to be changed'],
      ['repeated-test-fail', 'the same test failed in two attempts of a Task, one after the other'],
      ['security-gate-fail', 'a required security check failed, or an error that names a place'],
    ] as const
  ).map(([trigger, rule]) => ({
    id: `execution.replan.triggers=${trigger}`,
    path: '/execution/replan/triggers',
    rule,
    asks: asksFor(trigger),
    enforcedBy: 'core',
  })),
  {
    id: 'execution.replan.triggers=evidence-conflict',
    path: '/execution/replan/triggers',
    rule: 'sources contradict each other; without a model there are none',
    asks: (spec, { model }) => model && asksFor('evidence-conflict')(spec),
    enforcedBy: 'core',
  },
  {
    id: 'execution.replan.triggers=unknown-api',
    path: '/execution/replan/triggers',
    rule: 'an added line calls an endpoint that `touchHints.apis` does not name',
    asks: asksFor('unknown-api'),
    enforcedBy: 'gates',
  },
  {
    id: 'execution.concurrency.maxParallelTasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many checks of a stage at once',
    asks: always,
    enforcedBy: 'core',
  },
  {
    id: 'execution.concurrency.maxParallelTasks#tasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many Tasks at once, fewer where writes conflict',
    asks: withModel,
    enforcedBy: 'core',
  },
]);

function asksFor(trigger: ReplanTrigger): (spec: EffectiveIntentSpec) => boolean {
  return ({ execution }) => execution.replan.triggers.includes(trigger);
}

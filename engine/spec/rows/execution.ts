import { always, inSection, withModel } from '../contract-row.ts';

export const executionRows = inSection('Execution policy', [
  {
    id: 'execution.retry.maxRetries',
    path: '/execution/retry/maxRetries',
    rule: 'attempts of a Task after its first; then Decision.Abandon',
    asks: withModel,
    enforcedBy: 'core',
    test: 'test/engine/run/worker-runs.test.ts',
  },
  {
    id: 'execution.retry.backoffSeconds',
    path: '/execution/retry/backoffSeconds',
    rule: 'wait before the n-th retry: backoffSeconds × 2^(n-1), at most 3600 seconds',
    asks: withModel,
    enforcedBy: 'core',
    test: 'test/engine/run/work/backoff.test.ts',
  },
  {
    id: 'execution.replan.triggers',
    path: '/execution/replan/triggers',
    rule: 'each causes a new revision of the Plan',
    asks: (spec, { model }) => model && spec.execution.replan.triggers.length > 0,
    enforcedBy: 'core',
    test: 'test/engine/run/worker-runs.test.ts',
  },
  {
    id: 'execution.replan.triggers#supplied-patch',
    path: '/execution/replan/triggers',
    rule: 'what would replan ends a supplied patch in abandon, with its reason',
    asks: (_spec, { model }) => !model,
    enforcedBy: 'core',
    test: 'fixtures/runs/a-test-that-fails-refuses',
  },
  {
    id: 'execution.concurrency.maxParallelTasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many checks of a stage at once',
    asks: always,
    enforcedBy: 'core',
    test: 'test/engine/run/field-effects.test.ts',
  },
  {
    id: 'execution.concurrency.maxParallelTasks#tasks',
    path: '/execution/concurrency/maxParallelTasks',
    rule: 'so many Tasks at once, fewer where writes conflict',
    asks: withModel,
    enforcedBy: 'core',
    test: 'test/engine/run/work/schedule.test.ts',
  },
]);

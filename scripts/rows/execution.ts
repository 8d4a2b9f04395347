import { type RowReader, readersIn } from './row-reader.ts';

/** Execution policy. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/run/work/work-task.ts', [
    [
      'execution.replan.triggers=evidence-conflict',
      "record.sourcesContradict ? ['evidence-conflict'] : []",
      '[]',
      'sources that contradict each other fire the trigger',
    ],
  ]),
  ...readersIn('gates/plugin.ts', [
    [
      'execution.replan.triggers=unknown-api',
      "['unknown-api']",
      '[]',
      'a call that the contract does not declare makes a new revision',
    ],
  ]),
  ...readersIn('engine/run/work/task-facts.ts', [
    [
      'execution.retry.maxRetries',
      'run.identity.contract.effective.execution.retry.maxRetries',
      '20',
      'exhausted retries end in abandon',
    ],
  ]),
  ...readersIn('engine/run/work/work-plan.ts', [
    [
      'execution.retry.backoffSeconds',
      'run.identity.contract.effective.execution.retry;',
      '{ backoffSeconds: 10 };',
      'an attempt that fails is tried again after the wait',
    ],
    [
      'execution.concurrency.maxParallelTasks#tasks',
      'parallelLimit(spec, Number.POSITIVE_INFINITY)',
      '128',
      'maxParallelTasks: so many Tasks are worked at once',
    ],
  ]),
  ...readersIn('engine/run/state/parallel-limit.ts', [
    [
      'execution.concurrency.maxParallelTasks',
      'Math.min(execution.concurrency.maxParallelTasks, maxParallel)',
      'maxParallel',
      'maxParallelTasks: one at a time never overlaps',
    ],
  ]),
  ...readersIn('engine/run/decide/decide-run.ts', [
    [
      'execution.replan.triggers',
      'enabled: spec.execution.replan.triggers,',
      'enabled: [],',
      'the same test failing twice makes a new revision',
    ],
  ]),
  ...readersIn('engine/run/decide/decide.ts', [
    [
      'execution.replan.triggers#supplied-patch',
      "if (source === 'supplied')\n    return abandon([...reasons,",
      "if (source === 'supplied') return abandon(reasons);\n  if (replans.count < 0)\n    return abandon([...reasons,",
      'a trigger that the contract enables ends a supplied patch',
    ],
  ]),
  ...readersIn('engine/run/record/replan-triggers.ts', [
    [
      'execution.replan.triggers=scope-creep',
      "'scope-creep': isScopeCreep(last),",
      '',
      'a path out of scope: scope-creep',
    ],
    [
      'execution.replan.triggers=repeated-test-fail',
      "'repeated-test-fail': isRepeatedFailure(last, history.at(-2)),",
      '',
      'a test that failed twice running',
    ],
    [
      'execution.replan.triggers=security-gate-fail',
      "'security-gate-fail': isSecurityFailure(last),",
      '',
      'a required security check that failed',
    ],
  ]),
];

import { room } from './rooms/room.ts';

await room(
  'engine/plan/covers-spec.test.ts',
  'engine/plan/decompose.test.ts',
  'core/contract/parse-plan-draft.test.ts',
  'engine/plan/plan-tasks.test.ts',
  'engine/plan/revise-plan.test.ts',
  'engine/plan/task-frontier.test.ts',
  'core/contract/task-graph.test.ts',
  'engine/plan/write-index.test.ts',
  'engine/frame',
  'engine/config/config.test.ts',
  'engine/config/lsp-section.test.ts',
  'engine/run/judge/workspace-dependencies.test.ts',
  'engine/config/approvals-section.test.ts',
  'engine/tool/shell.test.ts',
  'engine/tool/shell-suites.test.ts',
  'engine/tool/acl.test.ts',
  'engine/tool/check-environment.test.ts',
  'engine/tool/plainly-allowed.test.ts',
  'engine/tool/runtime',
  'engine/run/state/checks-with-factors.test.ts',
);

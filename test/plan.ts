import './core/plan/covers-spec.test.ts';
import './core/plan/decompose.test.ts';
import './core/plan/parse-plan-draft.test.ts';
import './core/plan/plan-tasks.test.ts';
import './core/plan/revise-plan.test.ts';
import './core/plan/task-frontier.test.ts';
import './core/plan/task-graph.test.ts';
import './core/plan/write-index.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

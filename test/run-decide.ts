import './core/run/verdict.test.ts';
import './core/run/authors-of.test.ts';
import './core/run/backoff.test.ts';
import './core/run/budget.test.ts';
import './core/run/decide.test.ts';
import './core/run/decide-table.test.ts';
import './core/run/replan-triggers.test.ts';
import './core/run/schedule.test.ts';
import './core/run/draft-plan.test.ts';
import './core/run/waiting-record.test.ts';
import './core/run/stored-approvals.test.ts';
import './core/run/failure-text.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

import t from 'tap';
import './core/intent/history.test.ts';
import './core/intent/moves.test.ts';
import './core/intent/run-lifecycle.test.ts';
import './bin/commands/lifecycle.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

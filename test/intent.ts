import t from 'tap';
import './core/intent/history.test.ts';
import './core/intent/moves.test.ts';
import './core/intent/run-lifecycle.test.ts';
import './bin/commands/lifecycle.test.ts';

// Run directly, tap ends a file after 30 seconds; real repositories on a busy machine may need more.
t.setTimeout(120_000);

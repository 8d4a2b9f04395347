import './core/answer.test.ts';
import './core/engine.test.ts';
import './core/hook.test.ts';
import './core/hooks.test.ts';
import './core/ledger.test.ts';
import './core/nearest-name.test.ts';
import './core/plugin.test.ts';
import './core/rules.test.ts';
import './core/slot.test.ts';
import './core/worker/pool.test.ts';
import './plugins/testers/gate-tester.test.ts';
import './plugins/testers/tiny-diff.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

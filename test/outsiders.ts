import t from 'tap';
import './core/config/plugins-section.test.ts';
import './core/plugin-trust/packages.test.ts';
import './core/plugin-trust/plugin-runs.test.ts';
import './core/worker/outside-rule.test.ts';
import './plugins/cedar/judge.test.ts';
import './bin/commands/plugin.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

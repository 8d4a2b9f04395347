import t from 'tap';
import './core/config/plugins-section.test.ts';
import './core/plugin-trust/packages.test.ts';
import './core/plugin-trust/plugin-runs.test.ts';
import './core/worker/outside-rule.test.ts';
import './plugins/cedar/judge.test.ts';
import './bin/commands/plugin.test.ts';

t.setTimeout(280_000);

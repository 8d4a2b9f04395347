import './core/tool/host-view.test.ts';
import './core/tool/init.test.ts';
import './core/tool/no-sandbox.test.ts';
import './core/tool/pick-sandbox.test.ts';
import './core/tool/sandbox-attack.test.ts';
import './core/tool/sandbox-probe.test.ts';
import './core/tool/spawn.test.ts';

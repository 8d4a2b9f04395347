import './core/tool/egress/client-hello.test.ts';
import './core/tool/egress/egress-proxy.test.ts';
import './core/tool/egress/judgement.test.ts';
import './core/tool/egress/sandbox-egress.test.ts';
import './core/tool/host-view.test.ts';
import './core/tool/init.test.ts';
import './core/tool/launcher.test.ts';
import './core/tool/no-sandbox.test.ts';
import './core/tool/pick-sandbox.test.ts';
import './core/tool/sandbox-as-user.test.ts';
import './core/tool/sandbox-attack.test.ts';
import './core/tool/sandbox-probe.test.ts';
import './core/tool/spawn.test.ts';
import './core/tool/syscall-filter.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);

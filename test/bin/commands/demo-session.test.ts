import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.setTimeout(240_000);

long('`writ demo --session` fails a gate, repairs its plan, commits, verifies and has a graph', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-demo-test-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const env = { PATH: process.env.PATH ?? '', HOME: join(root, 'home') };
  const line = ['--json', 'demo', '--session', '--out', join(root, 'out')];
  const ran = await runLine(line, commands, { cwd: root, env });
  const { data, error } = JSON.parse(ran.out);
  t.equal(ran.code, 0, error?.message ?? '');
  t.strictSame(faultsOf('demo', data), []);
  t.match(data, {
    decision: { type: 'commit' },
    verified: true,
    session: {
      status: 'completed',
      plans: [
        { revision: 1, status: 'failed', repair: 0 },
        { revision: 2, status: 'completed', repair: 1 },
      ],
    },
  });
  t.ok(data.session.nodes > 10);
  t.match(ran.err, /^Refused {4}run /m);
  t.match(ran.err, /^Committed {2}run /m);
  t.notMatch(ran.err, 'Decision.');
});

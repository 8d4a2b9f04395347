import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

const launcher = fileURLToPath(new URL('../../../bin/writ.js', import.meta.url));
const memory = '/dev/shm';
const both = await Promise.all([bubblewrapSandbox().probe(), unshareSandbox().probe()]);
const lacks = !existsSync(memory) || both.some(({ works }) => !works);

long(
  'a run reports that bubblewrap does not work and which sandbox it used',
  { skip: lacks ? 'needs `/dev/shm`, bubblewrap and `unshare`' : false, timeout: 240_000 },
  async (t) => {
    // bubblewrap lays a memory file system of its own there, over the workspaces.
    const TMPDIR = mkdtempSync(join(memory, 'writ-notice-'));
    const sample = makeSample();
    t.teardown(() => {
      sample.remove();
      rmSync(TMPDIR, { recursive: true, force: true });
    });
    const spec = join(sample.home, 'spec.json');
    const patch = join(sample.home, 'change.diff');
    writeFileSync(spec, sampleSpec());
    writeFileSync(patch, readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff')));
    const run = (env: Readonly<Record<string, string>>) => {
      const line = [launcher, 'run', spec, '--patch', patch, '--json'];
      const { stdout } = spawnSync(process.execPath, line, { cwd: sample.root, env, encoding: 'utf8' });
      return JSON.parse(stdout).data;
    };
    const { sandbox, notices = [] } = run({ ...sample.env, TMPDIR });
    t.equal(sandbox, 'unshare');
    const said = /^`bubblewrap` is installed and does not work here: .+; checks ran under `unshare`$/;
    t.ok(
      notices.some((one: string) => said.test(one)),
      JSON.stringify(notices),
    );
  },
);

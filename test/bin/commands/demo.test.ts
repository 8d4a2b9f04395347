import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { casesOf } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

interface Demo {
  readonly ok: boolean;
  readonly error?: { readonly message: string };
  readonly data: {
    readonly run_id: string;
    readonly decision: { readonly commit_sha: string };
    readonly artifacts: readonly { readonly name: string; readonly path: string }[];
    readonly next: readonly { readonly line: string; readonly about: string; readonly exit: number }[];
  };
}

const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-demo-test-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const [out, home] = [join(root, "it's $HOME here"), join(root, 'home')];
// The demonstration must not depend on, or touch, what the person has.
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  CI: '1',
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
};
// Six judgements of a real repository on a busy machine.
t.setTimeout(240_000);

t.test('`writ demo` shows refusals, approvals and a sealed commit, and its next commands work', async (t) => {
  const ran = await runLine(['--json', 'demo', '--out', out], commands, { cwd: root, env });
  const { ok, data, error } = JSON.parse(ran.out) as Demo;
  t.equal(ran.code, 0, error?.message ?? '');
  t.equal(ok, true);
  t.strictSame(faultsOf('demo', data), []);
  t.match(data, {
    verified: true,
    decision: { type: 'commit' },
    refused: [{ rules: ['new-tests'] }, { rules: ['no-direct-eval'] }, { rules: ['scope'] }],
    waited: [
      { state: 'waiting', approvals: [] },
      { state: 'waiting', approvals: [{ principal: 'maintainer@orders.example', status: 'author' }] },
    ],
    approvals: [
      { principal: 'ana@orders.example', in_process: true },
      { principal: 'ben@orders.example', in_process: true },
    ],
    stages: ['fast', 'integration', 'security', 'release'].map((stage) => ({ stage, status: 'passed' })),
    model: { risk_level: 'low', retries: 1, decision: 'commit', verified: true },
  });
  t.equal(existsSync(home), false, "nothing in the person's home");
  const errors = ran.err.split('\n').filter((line) => /^writ: /.test(line));
  t.strictSame(errors, []);

  const sh = (line: string) =>
    spawnSync('/bin/sh', ['-c', line], {
      cwd: out,
      env: { ...env, HOME: root, TMPDIR: root },
      encoding: 'utf8',
    });
  const content = (path: string): unknown =>
    JSON.parse(sh(`git -C orders show refs/ai/content/${data.run_id}:${path}`).stdout);
  const { path = '' } = data.artifacts.find(({ name }) => name === 'sca-report') ?? {};
  const report = content(path) as {
    readonly metadata: { readonly properties: readonly { readonly name: string; readonly value: string }[] };
    readonly vulnerabilities: readonly unknown[];
  };
  const property = (name: string) => report.metadata.properties.find((one) => one.name === name)?.value;
  t.strictSame(
    [property('writ:packages:npm'), property('writ:advisories:npm'), report.vulnerabilities],
    ['2', '1', []],
    'two packages were looked up, among one advisory that does not apply',
  );
  t.match(sh('git -C orders show HEAD:.writ/allowed_signers').stdout, /^maintainer@orders\.example /);
  t.notMatch(sh('git -C orders grep -I PRIVATE $(git -C orders rev-list --all)').stdout, /./);

  t.ok(data.next.length >= 6);
  const lines = Object.fromEntries(data.next.map((one) => [one.about, one]));
  t.equal(Object.keys(lines).length, data.next.length);
  const kept = ['the evidence: plain git', 'as somebody who trusts none of the keys: exit 3'];
  for (const [, { line, exit }] of casesOf(lines, kept)) {
    const { status, stdout, stderr } = sh(line);
    t.equal(status, exit, `${line}: ${stdout.slice(0, 500)}${stderr.slice(0, 500)}`);
    t.ok(stdout.length > 0, line);
  }
  t.match(readFileSync(join(out, 'report.html'), 'utf8'), data.decision.commit_sha);
});

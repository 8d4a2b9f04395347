import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

t.setTimeout(120_000);

const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff');

const lines = Array.from({ length: 20 }, (_, index) => `// line ${index}\n`);

/** A repository with three commits, and a clone of it. */
function cloned(t: Test, ...how: readonly string[]) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  sample.git('config', 'uploadpack.allowFilter', 'true');
  for (const text of ['two', 'three']) {
    writeFileSync(join(sample.root, 'src/other.js'), `export const a = '${text}';\n`);
    writeFileSync(join(sample.root, 'src/list.js'), lines.with(2, `// ${text}\n`).join(''));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', text);
  }
  const cwd = join(sample.home, 'clone');
  const env = { ...sample.env, GIT_ALLOW_PROTOCOL: 'file' };
  execFileSync('git', ['clone', '--quiet', ...how, `file://${sample.root}`, cwd], { env, stdio: 'ignore' });
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  return {
    git: (command: string) => execFileSync('git', command.split(' ').slice(1), { cwd, env, stdio: 'pipe' }),
    write: (path: string, text: string) => writeFileSync(join(cwd, path), text),
    refs: () => execFileSync('git', ['for-each-ref'], { cwd, env }).toString(),
    async say(...argv: readonly string[]) {
      const { code, out } = await runLine(['--json', ...argv], commands, { cwd, env });
      return { code, ...JSON.parse(out) };
    },
    spec,
  };
}

t.test(
  'a partial clone that lacks objects is refused before any work, with the command that helps',
  async (t) => {
    const { git, refs, say, spec } = cloned(t, '--filter=blob:none', '--no-checkout');
    const before = refs();
    const refused = await say('run', spec, '--patch', patch);
    t.match(refused, { code: 128, error: { code: 'OBJECTS_MISSING', details: { missing: Number } } });
    t.equal(refs(), before, 'no run was begun');
    const planned = await say('plan', spec);
    t.match(JSON.stringify(planned), 'OBJECTS_MISSING');
    const [, command = ''] = /`(git fetch[^`]*)`/.exec(JSON.stringify(refused.error.hints)) ?? [];
    git(command);
    const after = await say('plan', spec, '--patch', patch);
    t.notMatch(JSON.stringify(after), 'OBJECTS_MISSING', 'it has what it needs');
  },
);

t.test('a treeless clone is refused with the same code and command', async (t) => {
  for (const how of [[], ['--no-checkout']]) {
    const { git, refs, say, spec } = cloned(t, '--filter=tree:0', ...how);
    const before = refs();
    const isWhole = how.length === 0;
    const asked = isWhole ? ['--range', 'HEAD~1..HEAD'] : ['--patch', patch];
    const refused = await say('run', spec, ...asked);
    t.match(refused, { code: 128, error: { code: 'OBJECTS_MISSING', details: { objects: [String] } } });
    t.equal(refs(), before, 'no run was begun');
    const [, command = ''] = /`(git fetch[^`]*)`/.exec(JSON.stringify(refused.error.hints)) ?? [];
    git(command);
    t.notMatch(JSON.stringify(await say('plan', spec, ...asked)), 'OBJECTS_MISSING', 'it has what it needs');
    if (!isLong) return leaveOut(1);
  }
});

t.test('a partial clone that has all objects of its tree is planned', async (t) => {
  const { say, spec } = cloned(t, '--filter=blob:none');
  t.notMatch(JSON.stringify(await say('plan', spec)), 'OBJECTS_MISSING');
});

long('a treeless clone that has all objects of its tree evaluates a change', async (t) => {
  const { say, spec } = cloned(t, '--filter=tree:0');
  t.match(await say('run', spec, '--patch', patch, '--no-seal'), { code: 0, data: { would: 'commit' } });
});

t.test('if files of the history are missing, writ reports which commits it did not compare', async (t) => {
  const { git, say, spec, write } = cloned(t, '--filter=blob:none');
  const scanned = await say('scan', '--range', 'HEAD~1..HEAD');
  t.match(scanned, { code: 128, error: { hints: [/`git fetch --refetch --no-filter`/] } });
  const [landed] = git('git rev-parse HEAD').toString().split('\n');
  git('git checkout -q -b stale');
  // One file as before the last commit; another one with that and more.
  write('src/other.js', `export const a = 'two';\n`);
  write('src/list.js', lines.with(2, '// two\n').with(15, '// other\n').join(''));
  git('git -c user.name=A -c user.email=a@a.example commit -q -a -m x');
  git('git checkout -q main');
  const evaluate = async () =>
    (await say('run', spec, '--range', 'main..stale', '--no-seal')).data.findings.filter(
      ({ rule }: { readonly rule: string }) => rule === 'scope',
    );
  t.match(await evaluate(), [
    { severity: 'warning', message: /`git fetch --refetch --no-filter`/, detail: { commits: [landed] } },
  ]);
  git('git fetch --refetch --no-filter');
  t.match(await evaluate(), [{ severity: 'error', detail: { commits: [landed] } }]);
});

t.test('in a shallow clone, missing history is reported with the command that fetches it', async (t) => {
  const { git, say, spec } = cloned(t, '--depth=1');
  const refused = await say('run', spec, '--range', 'HEAD~1..HEAD');
  t.match(refused, { code: 128, error: { code: 'REF_NOT_FOUND', hints: [/`git fetch --unshallow`/] } });
  git('git fetch --unshallow');
  t.notMatch(JSON.stringify(await say('plan', spec, '--range', 'HEAD~1..HEAD')), 'REF_NOT_FOUND');
});

t.test('a range of commits is listed in a clone that is shallow and partial', async (t) => {
  const { say } = cloned(t, '--depth=2', '--filter=blob:none');
  const verified = await say('verify', 'HEAD~1..HEAD');
  t.equal(verified.code, 3, 'the commit has no seal');
  t.match(verified.data, { ranges: [{ range: 'HEAD~1..HEAD', commits: 1, verified_commits: 0 }] });
});

t.test('a root tree that a partial clone left out is missing, not other bytes', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await sample.run({ source: { kind: 'patch', bytes: readFileSync(patch) } });
  sample.git('config', 'uploadpack.allowFilter', 'true');
  sample.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const cwd = join(sample.home, 'clone');
  const env = { ...sample.env, GIT_ALLOW_PROTOCOL: 'file' };
  const git = (line: string) => execFileSync('git', line.split(' '), { env, stdio: 'ignore' });
  git(`clone --quiet --depth=1 --filter=tree:0 --no-checkout file://${sample.root} ${cwd}`);
  await runLine(['fetch'], commands, { cwd, env });
  const verify = async () => runLine(['--json', 'verify', 'HEAD'], commands, { cwd, env });
  const { code, out } = await verify();
  t.equal(code, 3);
  const [command = ''] = /git fetch [a-z -]+/.exec(out) ?? [];
  git(`-C ${cwd} ${command.slice('git '.length)}`);
  t.equal((await verify()).code, 0, 'after the command that it names');
});

import { chmodSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { runProgram } from '../../starter/run-program.ts';
import { runLine } from '../host.ts';

/** A repository with this `[session]`, and a model that answers. */
async function scene(t: Test, limits: string, replies: readonly ScriptedReply[] = []) {
  const sample = makeSample();
  const model = await scriptModel(replies);
  t.teardown(async () => {
    await model[Symbol.asyncDispose]();
    sample.remove();
  });
  const host = new URL(model.base).host;
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'config.toml'), `[session]\n${limits.replaceAll('HOST', host)}\n`);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '--message', 'Limits');
  const env = { ...sample.env, OPENAI_API_KEY: 'key-of-nobody-1234567890' };
  const place = { cwd: sample.root, env };
  const base = ['--api-base', model.base];
  const run = (argv: readonly string[], more: Readonly<Record<string, string>> = env) =>
    runLine(argv, commands, { ...place, env: { ...sample.env, ...more } });
  return { sample, model, base, run, place };
}

const asks = ['--print', 'What is it?'];

t.test('no command calls a model at an address that the repository does not allow', async (t) => {
  const { sample, model, base, run } = await scene(t, 'providers = ["openai"]');
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  for (const argv of [
    ['code', '--provider', 'openai', '--model', 'scripted', ...base, ...asks],
    ['run', spec, '--provider', 'openai', '--model', 'scripted', ...base],
    [
      'run',
      '--request',
      'Make prices exact.',
      '--yes',
      '--provider',
      'openai',
      '--model',
      'scripted',
      ...base,
    ],
  ])
    t.match(
      await run(argv),
      { code: 128, err: /`openai@127.0.0.1:\d+` exceeds `providers` in \[session\] of the repository/ },
      argv.join(' '),
    );
  t.match(await run(['code', '--provider', 'gemini', ...asks]), { code: 128, err: /`gemini` exceeds/ });
  t.equal(model.asked.length, 0);
});

t.test('options of `writ code` are within the policy, and defaults follow it', async (t) => {
  const limits =
    'providers = ["openai@HOST"]\nmodels = ["scripted"]\napproval_policy = "untrusted"\nnetwork = "deny"';
  const { base, run } = await scene(t, limits, [{ text: 'A price.' }]);
  const openai = ['code', '--provider', 'openai', ...base];
  const scripted = [...openai, '--model', 'scripted'];
  for (const [argv, why] of [
    [[...openai, '--model', 'other'], /`other` exceeds `models`/],
    [openai, /exceeds `models`/],
    [[...scripted, '--approval-policy', 'on-request'], /`on-request` exceeds `approval_policy`.*`untrusted`/],
    [[...scripted, '--network-access', 'allow'], /`allow` exceeds `network`/],
  ] as const)
    t.match(await run([...argv, ...asks]), { code: 128, err: why });
  // Before a key is looked for.
  t.match(await run(['code', '--provider', 'openai', ...asks], {}), { code: 128, err: /`openai` exceeds/ });
  t.match(await run([...scripted, ...asks]), { code: 0, out: 'A price.\n' });
});

t.test('a run of a spec that opens the network is refused before its work', async (t) => {
  const { sample, base, model, run } = await scene(t, 'network = "deny"');
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec({ constraints: { security: { networkPolicy: 'allow' } } }));
  const { code, err } = await run(['run', spec, '--provider', 'openai', '--model', 'scripted', ...base]);
  t.match({ code, err }, { code: 128, err: /`allow` exceeds `network`/ });
  t.equal(model.asked.length, 0);
});

t.test('`writ config print` names the level of each limit', async (t) => {
  const { run } = await scene(t, 'models = ["a*"]');
  const { out } = await run(['config', 'print', '--json']);
  const { values } = JSON.parse(out).data;
  t.match(
    values.find(({ key }: { key: string }) => key === 'session.models'),
    {
      value: ['a*'],
      from: /^\.writ\/config\.toml at /,
    },
  );
});

function ended({ status, stdout, stderr }: ReturnType<typeof runProgram>) {
  return { code: status, out: stdout.toString(), err: stderr.toString() };
}

/** Runs writ where this directory is `/etc/writ`, as this user of the machine. */
function onMachine(policies: string, uid: number) {
  const etc = readdirSync('/etc', { withFileTypes: true }).filter(
    (entry) => !entry.isSymbolicLink() && entry.name !== 'writ',
  );
  const binds = etc.flatMap(({ name }) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]);
  const user = ['--unshare-user', '--uid', `${uid}`, '--gid', '0'];
  const root = ['--dev-bind', '/', '/', '--tmpfs', '/etc', ...binds, '--ro-bind', policies, '/etc/writ'];
  return (
    argv: readonly string[],
    place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ) =>
    ended(
      runProgram(
        'bwrap',
        [...user, ...root, '--', process.execPath, ...launcherOptions, writProgram, ...argv],
        place,
      ),
    );
}

long('the file of a machine holds for every command, and only if root alone can write it', async (t) => {
  const { sample, base, model, place } = await scene(t, 'models = ["scripted"]', [submits('')]);
  const policies = join(sample.home, 'etc-writ');
  mkdirSync(policies, { mode: 0o755 });
  const file = join(policies, 'policy.toml');
  writeFileSync(file, '[session]\nproviders = ["anthropic"]\nnetwork = "deny"\n', { mode: 0o644 });
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  const open = join(sample.home, 'open.json');
  const people = { humanInLoop: { required: true, minApprovers: 1 } };
  writeFileSync(open, sampleSpec({ risk: people, constraints: { security: { networkPolicy: 'allow' } } }));
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  const run = onMachine(policies, 0);
  const openai = ['--provider', 'openai', '--model', 'scripted', ...base];
  for (const argv of [
    ['code', ...openai, ...asks],
    ['run', spec, ...openai],
  ]) {
    const { code, err } = await run(argv, place);
    t.match(
      { code, err },
      { code: 128, err: /`openai[^`]*` exceeds `providers` in \/etc\/writ\/policy\.toml/ },
    );
    t.match(err, /administrator of this machine/);
  }
  t.equal(model.asked.length, 0);
  const printed = JSON.parse((await run(['config', 'print', '--json'], place)).out).data.values;
  t.match(
    printed.filter(({ from }: { from: string }) => from === '/etc/writ/policy.toml'),
    [{ key: 'session.providers' }, { key: 'session.network', value: 'deny' }],
  );
  t.match((await run(['doctor'], place)).out, /ok\s+machine-policy\s+\/etc\/writ\/policy\.toml limits 2/);

  const waiting = await runLine(['--json', 'run', open, '--patch', patch], commands, place);
  t.equal(waiting.code, 4, waiting.out);
  const { run_id: id } = JSON.parse(waiting.out).data;
  t.match(await run(['resume', id], place), { code: 128, err: /`allow` exceeds `network`/ });

  const foreign = await onMachine(policies, 1000)(['code', ...openai, ...asks], place);
  t.match(foreign, { code: 128, err: /its directory belongs to user 1000, not to root/ });
  for (const [spoil, why] of [
    [() => writeFileSync(file, '[session]\nprovider = []\n'), /session\.provider: unknown key/],
    [() => writeFileSync(file, 'x'.repeat(70_000)), /it cannot be read \(EFBIG\)/],
    [() => chmodSync(file, 0o666), /others than root may write to it/],
    [
      () => {
        renameSync(file, `${file}.old`);
        symlinkSync('policy.toml.old', file);
      },
      /it is a symbolic link/,
    ],
    [() => chmodSync(policies, 0o777), /others than root may write to its directory/],
  ] as const) {
    spoil();
    const { code, err } = await run(['code', ...openai, ...asks], place);
    t.match({ code, err }, { code: 128, err: why });
  }
  const { code, out } = await run(['doctor'], place);
  t.match({ code, out }, { code: 128, out: /failed\s+machine-policy\s+MACHINE_POLICY_INVALID/ });
});

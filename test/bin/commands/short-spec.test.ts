import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { IntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';

const short = {
  intent: { summary: 'Say what a price is', inScope: ['src/'] },
  acceptance: { verificationPlan: { fastChecks: [{ command: 'true' }] } },
  risk: { level: 'low' },
};

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const given = { cwd: sample.root, env: sample.env };
  const call = async (...args: readonly string[]) => {
    const { code, out, err } = await runLine([...args, '--json'], commands, given);
    return { code, err, ...JSON.parse(out) };
  };
  const write = (document: unknown): string => {
    const path = join(sample.home, 'short.json');
    writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document, null, 2));
    return path;
  };
  const issuesOf = async (document: unknown): Promise<readonly (readonly [string, string])[]> => {
    const { data } = await call('spec', 'validate', write(document));
    const [file] = data.files;
    return file.issues
      .filter(({ severity }: { severity: string }) => severity === 'error')
      .map(({ code, path }: { code: string; path: string }) => [code, path] as const);
  };
  return { ...sample, given, call, write, issuesOf };
}

t.test('a short spec is run as the document that it stands for, and its text stays with it', async (t) => {
  const { call, write, git, home, root } = scene(t);
  const path = write(short);
  const patch = join(home, 'change.patch');
  writeFileSync(join(root, 'src', 'note.js'), '// a price is in cents\n');
  git('add', '--intent-to-add', 'src/note.js');
  writeFileSync(patch, `${git('diff')}\n`);
  git('reset', '-q', '--hard');
  const { data: plan } = await call('plan', path, '--for', 'patch');
  const { data } = await call('run', path, '--patch', patch);
  t.match(data, { decision: { type: 'commit' }, spec: { document: { kind: 'IntentSpec' } } });
  t.equal(data.spec.digest, plan.digest, 'what was shown is what is sealed');
  t.equal((await call('spec', 'digest', path)).data.digest, data.spec.digest);
  t.match(git('log', '-1', '--format=%B'), `Intentspec-Digest: ${data.spec.digest}`);

  const text = readFileSync(path, 'utf8');
  const shown = await call('show', data.run_id);
  t.strictSame(shown.data.short_spec, { sha256: sha256Hex(text), text });
  const refused = await call('verify', 'HEAD', '--spec', path);
  t.match(refused, { code: 129, error: { code: 'INPUT_UNREADABLE', message: /short spec/ } });
  const whole = join(home, 'whole.json');
  writeFileSync(whole, git('show', `refs/ai/runs/${data.run_id}:spec.json`));
  const { data: verified } = await call('verify', 'HEAD', '--spec', whole);
  t.match(
    verified.checks.filter(({ id }: { id: string }) => id === 'spec'),
    [{ status: 'passed' }],
  );
});

t.test('the same text in the same place is the same document', async (t) => {
  const { call, write } = scene(t);
  const path = write(short);
  const digest = async () => (await call('spec', 'digest', path)).data.digest;
  const first = await digest();
  t.equal(await digest(), first);
  const document = JSON.parse((await call('spec', 'canonical', path)).data.canonical) as IntentSpec;
  utimesSync(path, 1, 1);
  t.not(await digest(), first, 'written at another time');
  const later = JSON.parse((await call('spec', 'canonical', path)).data.canonical) as IntentSpec;
  t.not(later.metadata.id, document.metadata.id, 'no id has two sorts of metadata');
  t.equal(later.metadata.createdAt, '1970-01-01T00:00:01.000Z');
});

t.test('what names itself an IntentSpec is read as a whole one', async (t) => {
  const { issuesOf, write, call } = scene(t);
  for (const name of ['apiVersion', 'kind', 'metadata', 'lifecycle']) {
    const issues = await issuesOf({ ...short, [name]: {} });
    t.ok(
      issues.some(([code, path]) => code === 'SCHEMA_REQUIRED' && path === ''),
      name,
    );
  }
  const { intent, ...others } = short;
  t.ok((await issuesOf(others)).some(([code, path]) => code === 'SCHEMA_REQUIRED' && path === ''));
  t.strictSame(await issuesOf('{"intent": {"summary": "a", "summary": "b"}}'), [
    ['INTENTSPEC_MALFORMED', ''],
  ]);
  const large = { ...short, intent: { ...intent, problemStatement: 'x'.repeat(64 * 1024) } };
  t.ok((await issuesOf(large)).some(([code, path]) => code === 'SCHEMA_REQUIRED' && path === ''));
  const spec = write({ ...short, acceptance: { verificationPlan: { fastChecks: 5 } } });
  t.match(await call('run', spec, '--range', 'HEAD..HEAD'), {
    code: 1,
    error: { code: 'INTENTSPEC_INVALID', details: { issues: [{ code: 'SCHEMA_TYPE' }] } },
  });
});

t.test('what only a person can say is not supplied', async (t) => {
  const { issuesOf } = scene(t);
  t.strictSame(await issuesOf({ intent: {} }), [
    ['SCHEMA_REQUIRED', '/intent'],
    ['SCHEMA_REQUIRED', '/intent'],
    ['SCHEMA_REQUIRED', '/risk'],
    ['SEMANTIC_SHORT_SPEC', '/acceptance/verificationPlan/fastChecks'],
  ]);
});

t.test('a short spec is never weaker than the profile of its risk', async (t) => {
  const { issuesOf, write, call } = scene(t);
  const weaker = {
    ...short,
    risk: { level: 'medium', humanInLoop: { required: false } },
    constraints: { security: { networkPolicy: 'allow' }, privacy: { retentionDays: 90 } },
    artifacts: { required: [] },
    'a.b': {},
    constrainst: { x: 1 },
  };
  const issues = await issuesOf(weaker);
  const pathsOf = (wanted: string) => issues.filter(([code]) => code === wanted).map(([, path]) => path);
  t.strictSame(pathsOf('SEMANTIC_SHORT_SPEC').sort(), [
    '/constraints/privacy/retentionDays',
    '/constraints/security/networkPolicy',
    '/risk/humanInLoop/required',
  ]);
  t.strictSame(pathsOf('SCHEMA_ADDITIONAL_PROPERTIES'), ['/a.b', '/constrainst']);
  t.ok(pathsOf('SCHEMA_MIN_ITEMS').includes('/artifacts/required'), 'reported once');
  t.strictSame(
    await issuesOf({
      ...short,
      security: { toolAcl: { allow: [{ tool: 'workspace.fs', actions: ['write'] }] } },
    }),
    [['SEMANTIC_SHORT_SPEC', '/security/toolAcl/allow']],
  );
  t.strictSame(
    await issuesOf({
      ...short,
      acceptance: { verificationPlan: { fastChecks: [{ command: 'true', required: false }] } },
    }),
    [['SEMANTIC_SHORT_SPEC', '/acceptance/verificationPlan/fastChecks']],
  );
  const stricter = {
    ...short,
    risk: { level: 'high', rationale: 'It prices orders.' },
    constraints: { resources: { maxWallClockSeconds: 600 } },
    acceptance: {
      verificationPlan: {
        fastChecks: [{ command: 'true' }, { command: 'false' }],
        releaseChecks: [{ kind: 'policy', command: 'verify-provenance' }],
      },
    },
  };
  t.strictSame(await issuesOf(stricter), []);
  const { data } = await call('spec', 'canonical', write(stricter));
  const { acceptance, constraints, risk } = JSON.parse(data.canonical) as IntentSpec;
  const { fastChecks, securityChecks, releaseChecks } = acceptance.verificationPlan;
  t.strictSame(
    [fastChecks, securityChecks, releaseChecks].map((list) => list.map(({ id }) => id)),
    [
      ['check-1', 'check-2'],
      ['sast', 'sca', 'sbom'],
      ['approvals', 'release-1'],
    ],
    'the checks of the profile stay',
  );
  t.match(
    { constraints, risk },
    {
      constraints: { resources: { maxWallClockSeconds: 600 }, security: { networkPolicy: 'deny' } },
      risk: { rationale: 'It prices orders.', humanInLoop: { minApprovers: 2 } },
    },
  );
});

t.test('on a terminal `spec new` asks for what no option gives', async (t) => {
  const { given } = scene(t);
  const typed = (lines: string, ...args: readonly string[]) =>
    runLine(['spec', 'new', ...args], commands, { ...given, stdin: lines, terminal: true });
  const asked = await typed('fix: round half up\nsrc/, test/\nmake test\nLow\n');
  const { intent, acceptance, risk, lifecycle } = JSON.parse(asked.out) as IntentSpec;
  t.match(
    { intent, risk, lifecycle, checks: acceptance.verificationPlan.fastChecks },
    {
      intent: { summary: 'fix: round half up', inScope: ['src/', 'test/'], changeType: 'bugfix' },
      risk: { level: 'low' },
      lifecycle: { status: 'draft' },
      checks: [{ command: 'make test' }],
    },
  );
  t.equal(asked.err.match(/\?/g)?.length, 4);
  const less = await typed('src/\n', '--summary', 'Round half up', '--risk', 'low', '--check', 'true');
  t.equal(less.err.match(/\?/g)?.length, 1);
  t.match(JSON.parse(less.out), { intent: { inScope: ['src/'] } });
  t.match(await typed('\n\n\nmost\n'), { code: 129, err: /expected low, medium, high, found `most`/ });
  const bare = await typed('\n\n\n\n');
  t.match(JSON.parse(bare.out), { risk: { level: 'low' }, intent: { summary: /Say in one sentence/ } });
  const secret = await typed('\n', '--summary', 'Round', '--scope', 'src/auth/', '--check', 'true');
  t.match(secret.err, /`src\/auth` is security code, and the proposed risk is `high`.*; Enter accepts/);
  t.match(JSON.parse(secret.out), { risk: { level: 'high', rationale: /src\/auth/ } });
});

t.test('the risk of `spec new` follows the rule of `writ seal`', async (t) => {
  const { call, root, git } = scene(t);
  const risk = async (...args: readonly string[]) => {
    const { code, err, data, error } = await call('spec', 'new', ...args);
    return { code, err, level: data?.spec.risk.level, message: error?.message };
  };
  t.match(await risk(), { level: 'low' });
  t.match(await risk('--scope', 'src/pay/'), { level: 'low' });
  mkdirSync(join(root, '.writ'));
  const config = '[seal]\nleast_risk = "medium"\n[security_code]\npaths = ["src/pay"]\n';
  writeFileSync(join(root, '.writ/config.toml'), config);
  git('add', '-f', '.writ');
  t.match(await risk(), { level: 'low' }, 'only what is committed counts');
  git('commit', '-qm', 'chore: policy');
  t.match(await risk(), { level: 'medium' });
  t.match(await risk('--scope', 'src/pay/'), {
    level: 'high',
    err: /risk: high, because src\/pay is security/,
  });
  t.match(await risk('--scope', 'src/pay/', '--risk', 'medium'), { level: 'medium' });
  t.match(await risk('--risk', 'low'), { code: 129, message: /too low: .* is `medium`/ });
});

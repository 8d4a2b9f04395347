import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { casesOf } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

const old = `export function run(text) {
  return eval(text);
}
export function both(a, b) {
  return eval(
    a + b,
  );
}
`;

const lodash = (version: string): string =>
  JSON.stringify({
    name: 'prices',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: { '': { name: 'prices' }, 'node_modules/lodash': { version } },
  });

const advisory = {
  id: 'GHSA-35jh-r3h4-6jhm',
  modified: '2026-11-01T00:00:00Z',
  summary: 'Command injection',
  affected: [
    {
      package: { ecosystem: 'npm', name: 'lodash' },
      ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '4.17.21' }] }],
    },
  ],
  database_specific: { severity: 'HIGH' },
};

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { root, home, git } = sample;
  const env = { ...sample.env, XDG_DATA_HOME: join(home, 'data') };
  const call = async (...args: readonly string[]) => {
    const { code, out, err } = await runLine([...args, '--json'], commands, { cwd: root, env });
    return { code, err, ...JSON.parse(out) };
  };
  const commit = (files: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
      git('add', '--force', path);
    }
    git('commit', '-q', '-m', 'x');
  };
  /** Commits the files, evaluates that commit, and takes it back. */
  const evaluate = async (files: Readonly<Record<string, string>>, level = 'low') => {
    commit(files);
    const spec = join(home, 'short.json');
    const plan = { fastChecks: [{ command: 'true' }] };
    writeFileSync(
      spec,
      JSON.stringify({
        intent: { summary: 'chore: move code', inScope: ['src/', 'package-lock.json'] },
        acceptance: { verificationPlan: plan },
        risk: { level },
      }),
    );
    git('branch', '-f', 'change');
    git('reset', '-q', '--hard', 'HEAD^');
    const { data, error } = await call('run', spec, '--range', 'HEAD..change', '--no-seal');
    const found = [
      ...(data?.findings ?? []),
      ...(data?.stages ?? []).flatMap((one: { findings: object[] }) => one.findings),
    ];
    const of = (rule: string) =>
      found
        .filter((one) => one.rule === rule)
        .map(({ severity, line }) => (line === undefined ? severity : `${severity} ${line}`));
    return { would: data?.would, error, found, of };
  };
  return { ...sample, call, commit, evaluate };
}

t.test('a change answers for new findings, and not for those that the baseline names', async (t) => {
  const { call, commit, evaluate, root, git } = scene(t);
  commit({ 'src/old.js': old, 'src/other.js': '// nothing\n' });
  const moved = `// moved\n${old.replaceAll('  ', '\t')}`;
  const { data } = await call('baseline');
  t.match(data, { findings: 2, rules: [{ id: 'no-direct-eval', findings: 2 }] });
  const text = readFileSync(join(root, '.writ/baseline.json'), 'utf8');
  t.match(JSON.parse(text), {
    version: '1',
    findings: [{ path: 'src/old.js', about: 'eval', count: 1 }, {}],
  });
  const before = await evaluate({ 'src/old.js': moved });
  t.strictSame(
    [before.would, ...before.of('no-direct-eval')],
    ['abandon', 'error 3', 'error 6'],
    'not committed',
  );

  commit({ '.writ/baseline.json': text });
  const same = await evaluate({ 'src/old.js': moved });
  t.strictSame([same.would, ...same.of('no-direct-eval')], ['commit', 'note 3', 'note 6']);
  t.match(same.found, [{ detail: { suppressed: true, reason: 'baseline' } }]);
  const second = 'export function again(text) {\n  return eval(text);\n}\n';
  const cases = {
    'a second one that is equal': { files: { 'src/old.js': `${old}${second}` }, found: ['error 10'] },
    'a second one beside one that moved': {
      files: { 'src/old.js': `${moved}${second}` },
      found: ['note 3', 'note 6', 'error 11'],
    },
    'one in another file': { files: { 'src/other.js': second }, found: ['error 2'] },
    'another argument on its own line': {
      files: { 'src/old.js': old.replace('a + b', 'a + c') },
      found: ['error 6'],
    },
    'another argument of a call that moved': {
      files: { 'src/old.js': moved.replace('a + b', 'a + c') },
      found: ['note 3', 'error 6'],
    },
  };
  const kept = [
    'a second one beside one that moved',
    'one in another file',
    'another argument of a call that moved',
  ] as const;
  for (const [what, { files, found }] of casesOf(cases, kept)) {
    const { would, of } = await evaluate(files as Readonly<Record<string, string>>);
    t.strictSame([would, ...of('no-direct-eval')], ['abandon', ...found], what);
  }

  commit({ 'src/old.js': '// mended\n' });
  const again = await evaluate({ 'src/old.js': old });
  t.strictSame(
    [again.would, ...again.of('no-direct-eval')],
    ['abandon', 'error 2', 'error 5'],
    'mended since',
  );

  git('reset', '-q', '--hard', 'HEAD^');
  commit({ '.writ/baseline.json': '{"version": "1", "findings": [{"rule": "x"}]}' });
  const invalid = await evaluate({ 'src/old.js': moved });
  t.equal(invalid.would, 'abandon');
  t.ok(
    invalid.found.some(({ message }) => /baseline\.json` at the policy commit is not valid/.test(message)),
  );
});

t.test('nothing is known in a file with more findings than are listed', async (t) => {
  const { call, commit, evaluate } = scene(t);
  const many = 'eval(text);\n'.repeat(501);
  commit({ 'src/many.js': many });
  const { data } = await call('baseline');
  commit({ '.writ/baseline.json': readFileSync(data.path, 'utf8') });
  const { would, of } = await evaluate({ 'src/many.js': `${many}eval(text);\n` });
  t.strictSame([would, ...of('no-direct-eval')], ['abandon', 'error 502']);
});

t.test('a known vulnerability is one of the base, in the same package', async (t) => {
  const { call, commit, evaluate, home } = scene(t);
  commit({ 'package-lock.json': lodash('4.17.19'), 'src/a.js': '// a\n' });
  const bare = await call('baseline');
  t.match(bare, { code: 0, data: { findings: 0 }, err: /rule `sca` was not evaluated: .*sca import/ });
  writeFileSync(join(home, 'advisory.json'), JSON.stringify(advisory));
  await call('sca', 'import', join(home, 'advisory.json'));
  const { data } = await call('baseline');
  t.match(data, { findings: 1, rules: [{ id: 'sca', findings: 1 }] });
  const without = await evaluate({ 'src/a.js': '// b\n' }, 'medium');
  t.strictSame([without.would, ...without.of('sca')], ['abandon', 'error']);
  commit({ '.writ/baseline.json': readFileSync(data.path, 'utf8') });
  const known = await evaluate({ 'src/a.js': '// b\n' }, 'medium');
  t.strictSame([known.would, ...known.of('sca')], ['wait', 'note']);
  const updated = await evaluate({ 'package-lock.json': lodash('4.17.20') }, 'medium');
  t.strictSame([updated.would, ...updated.of('sca')], ['abandon', 'error'], 'another version of it');
  commit({ 'package-lock.json': lodash('4.17.21') });
  const back = await evaluate({ 'package-lock.json': lodash('4.17.19') }, 'medium');
  t.strictSame([back.would, ...back.of('sca')], ['abandon', 'error'], 'mended since');
});

t.test('a scan of files knows the baseline at HEAD', async (t) => {
  const { call, commit, root } = scene(t);
  const unsafe = 'import yaml\n\n\ndef load(f):\n    return yaml.load(f)\n';
  commit({ 'src/old.js': old, 'lib/read.py': unsafe });
  const { data } = await call('baseline');
  t.match(data.rules, [
    { id: 'no-direct-eval', findings: 2 },
    { id: 'sast', findings: 1 },
  ]);
  t.match(await call('scan', 'src', 'lib'), { code: 1 });
  commit({ '.writ/baseline.json': readFileSync(data.path, 'utf8') });
  t.match(await call('scan', 'src', 'lib'), { code: 0 });
  writeFileSync(join(root, 'src/old.js'), `${old}${old}`);
  const { code, data: twice } = await call('scan', 'src');
  t.equal(code, 1);
  const errors = twice.findings.filter(({ severity }: { severity: string }) => severity === 'error');
  t.strictSame(
    errors.map(({ line }: { line: number }) => line),
    [10, 13],
  );
});

t.test('a baseline that git ignores is named as such', async (t) => {
  const { root, env } = scene(t);
  writeFileSync(join(root, '.gitignore'), '.writ/*\n');
  const { out } = await runLine(['baseline'], commands, { cwd: root, env });
  t.match(out, 'wrote .writ/baseline.json: 0 findings\n');
  t.match(out, 'git add --force .writ/baseline.json');
  t.ok(existsSync(join(root, '.writ/baseline.json')));
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { scaffolds } from '../../../bin/plugin/scaffolds.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const plugins = join(root, 'fixtures/plugins');

t.setTimeout(240_000);

interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what it is
  readonly data: any;
  readonly error?: { readonly code: string; readonly message: string; readonly hints?: readonly string[] };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const say = async (...argv: string[]): Promise<Answer> => {
    const { code, out } = await runLine(['--json', ...argv], commands, { cwd: sample.root, env: sample.env });
    const answer = JSON.parse(out);
    if (answer.data !== undefined) t.strictSame(faultsOf(answer.command, answer.data), [], argv.join(' '));
    return { code, ...answer };
  };
  return { sample, say } as const;
}

long('a new gate plugin passes its test in the sandbox', async (t) => {
  const { sample, say } = scene(t);
  const made = await say('plugin', 'new', 'gate', 'no-drafts');
  t.equal(made.code, 0);
  const box = join(sample.root, 'no-drafts');
  t.strictSame(made.data.files, ['package.json', 'rules/no-drafts.js', 'cases.json', 'README.md']);
  t.equal((await say('plugin', 'new', 'gate', 'no-drafts')).error?.code, 'OUTPUT_EXISTS');

  const tested = await say('plugin', 'test', 'no-drafts');
  t.equal(tested.code, 0, JSON.stringify(tested.data));
  t.match(tested.data.rules, [{ id: 'no-drafts', cases: 3, failures: [] }]);

  mkdirSync(join(box, 'node_modules/writ'), { recursive: true });
  writeFileSync(join(box, 'node_modules/writ/package.json'), '{}');
  const again = await say('plugin', 'test', 'no-drafts');
  t.equal(again.data.digest, tested.data.digest, 'what is installed beside it is no part of it');
});

t.test('the test runner of a project runs no file of a new plugin, whatever its name', async (t) => {
  // What node --test, jest, vitest and tap run unasked.
  const patterns = [
    /(?:^|\/)(?:test|tests|__tests__)\//,
    /(?:^|\/)(?:test|spec|tests)\.\w+$/,
    /[._-](?:test|spec|tests)\.\w+$/,
    /(?:^|\/)test-[^/]*$/,
  ];
  for (const kind of Object.keys(scaffolds) as (keyof typeof scaffolds)[])
    for (const name of ['no-drafts', 'test-kept', 'no-skipped-test', 'test', 'spec', 'a-spec']) {
      const files = scaffolds[kind](name);
      const run = [...files.keys()].filter((path) => patterns.some((pattern) => pattern.test(path)));
      t.strictSame(run, [], `${kind} ${name}`);
      const manifest = JSON.parse(files.get('package.json') ?? '');
      t.strictSame(
        ['scripts', 'dependencies', 'devDependencies', 'peerDependencies'].filter((key) => key in manifest),
        [],
        'it names no package of a registry',
      );
    }
  const project = t.testdir({ 'a.test.js': "require('node:test').test('mine', () => {});\n" });
  for (const [path, text] of scaffolds.gate('no-skipped-test')) {
    const place = join(project, 'gate', path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  const said = execFileSync(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: project,
    env: { PATH: process.env.PATH ?? '' },
    encoding: 'utf8',
  });
  t.match(said, /# tests 1\n/);
});

long('a rule fails its test if its findings differ from its cases', async (t) => {
  const { sample, say } = scene(t);
  await say('plugin', 'new', 'gate', 'lazy');
  const rule = join(sample.root, 'lazy/rules/lazy.js');
  writeFileSync(rule, 'export const judge = () => [];\n');
  const lazy = await say('plugin', 'test', 'lazy');
  t.equal(lazy.code, 1);
  t.equal(lazy.error?.code, 'PLUGIN_TEST_FAILED');
  t.match(lazy.data.rules, [{ id: 'lazy', failures: [/expected a finding of severity `error`/] }]);
  writeFileSync(join(sample.root, 'lazy/cases.json'), '{"lazy":{"valid":[{"name":"x"}],"invalid":[]}}');
  t.equal((await say('plugin', 'test', 'lazy')).error?.code, 'PLUGIN_TEST_FAILED', 'a side without a case');
  writeFileSync(join(sample.root, 'lazy/cases.json'), '[');
  t.equal((await say('plugin', 'test', 'lazy')).error?.code, 'PLUGIN_INVALID');
  writeFileSync(rule, 'export const judge = () => { throw new Error("x"); };\n');
  writeFileSync(join(sample.root, 'lazy/cases.json'), '{"lazy":{"valid":[],"invalid":[{"name":"x"}]}}');
  t.equal((await say('plugin', 'test', 'lazy')).code, 1, 'a rule that gives no answer refuses nothing');
});

long('the example plugins pass their tests', async (t) => {
  const { say } = scene(t);
  for (const name of ['test-names', 'changelog-entry']) {
    const { code, data } = await say('plugin', 'test', join(plugins, name));
    t.equal(code, 0, JSON.stringify(data));
  }
});

long('a repository plugin is added, committed, trusted and then refuses a change', async (t) => {
  const { sample, say } = scene(t);
  cpSync(join(plugins, 'test-names'), join(sample.root, 'tools/test-names'), { recursive: true });
  const added = await say('plugin', 'add', 'tools/test-names');
  const config = join(sample.root, '.writ/config.toml');
  const digestAdded = added.data.digest;
  const next = [
    'commit .writ/config.toml and tools/test-names',
    `read it, then: writ plugin trust ${digestAdded}`,
  ];
  const first = { path: 'tools/test-names', kept: false, changed: true, files: [config], next };
  t.match(added, { code: 0, data: first });
  t.match((await say('plugin', 'add', 'tools/test-names')).data, { changed: false, files: [], next });
  writeFileSync(config, `${readFileSync(config, 'utf8')}\n[rules.test-names]\nmin_words = 9\n`);
  const outsiders = async (): Promise<readonly unknown[]> =>
    (await say('plugin', 'list')).data.plugins.filter(
      ({ source }: { source: string }) => source !== 'built-in',
    );
  const pinned = { name: 'tools/test-names', status: 'uncommitted', digest: digestAdded, rules: [] };
  t.match(await outsiders(), [pinned], 'what is not committed does not count, and is told');
  t.equal((await outsiders()).length, 1);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Judge names');

  writeFileSync(join(sample.root, '../spec.json'), sampleSpec());
  const fix = join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff');
  const line = ['run', '../spec.json', '--patch', fix];
  const untrusted = await say(...line);
  t.match(untrusted, { code: 128, error: { code: 'PLUGIN_UNTRUSTED' } });
  t.match((await say('plugin', 'list')).data.plugins.at(-1), { name: 'test-names', status: 'untrusted' });
  t.strictSame((await say('plugin', 'add', 'tools/test-names')).data.next, next.slice(1), 'it is committed');

  const once = await say(...line, '--plugin', added.data.digest);
  t.match(once, { code: 1, error: { code: 'DECISION_ABANDON' } });
  t.match(once.data.findings, [{ rule: 'test-names' }]);
  t.equal((await say(...line)).error?.code, 'PLUGIN_UNTRUSTED', 'naming it once trusts it once');

  const file = join(sample.home, '.config/writ/trusted-plugins', added.data.digest.slice(7));
  t.match(await say('plugin', 'trust', added.data.digest), {
    code: 0,
    data: { trusted: true, changed: true, files: [file], next: [/lists it at its policy commit/] },
  });
  t.match((await say('plugin', 'add', 'tools/test-names')).data.next, { length: 0 }, 'nothing is left to do');
  t.match((await say('plugin', 'trust', added.data.digest)).data, { changed: false, files: [] });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.match((await say('plugin', 'list')).data.plugins.at(-1), { status: 'trusted', rules: ['test-names'] });
  t.match((await say(...line)).data.findings, [{ rule: 'test-names' }]);

  for (const other of [['plan', '../spec.json'], ['spec', 'validate', '../spec.json'], ['runs']]) {
    chmodSync(file, 0o000);
    t.equal((await say(...other)).code, 0, `${other[0]} asks for no plugin`);
  }
  chmodSync(file, 0o644);
  t.equal((await say(...line)).error?.code, 'KEY_INSECURE', 'a trust that others can read is none of ours');
  chmodSync(file, 0o600);
  t.match(await say('plugin', 'trust', added.data.digest, '--remove'), {
    code: 0,
    data: { trusted: false, changed: true },
  });
  t.equal((await say(...line)).error?.code, 'PLUGIN_UNTRUSTED');
  symlinkSync(join(sample.root, 'package.json'), file);
  t.equal((await say(...line)).error?.code, 'KEY_INSECURE', 'a link is not followed');

  writeFileSync(join(sample.root, 'tools/test-names/README.md'), 'changed\n');
  const changed = await say('plugin', 'add', 'tools/test-names');
  t.equal(changed.data.changed, true);
  t.not(changed.data.digest, added.data.digest);
  const text = readFileSync(config, 'utf8');
  t.notOk(text.includes(added.data.digest));
  t.equal(text.split('[[plugins]]').length, 2, 'its entry got the new digest');
  t.match(text, /min_words = 9/);
});

long('a packed plugin is stored for the user, and a changed copy is reported', async (t) => {
  const { sample, say } = scene(t);
  execFileSync('npm', ['pack', '--offline', '--silent', '--pack-destination', sample.home], {
    cwd: join(plugins, 'changelog-entry'),
    env: { ...sample.env, npm_config_update_notifier: 'false' },
  });
  const packed = join(sample.home, 'example-writ-changelog-entry-2.1.0.tgz');
  const added = await say('plugin', 'add', packed);
  t.match(added, { code: 0, data: { package: '@example/writ-changelog-entry', kept: true, changed: true } });
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Judge');
  t.match((await say('plugin', 'list')).data.plugins.at(-1), { source: 'package', status: 'untrusted' });
  const kept = join(sample.home, '.config/writ/plugins', added.data.digest.slice(7));
  t.ok(existsSync(join(kept, 'rules/changelog-entry.js')));
  mkdirSync(join(kept, 'node_modules'));
  writeFileSync(join(kept, 'node_modules/x.js'), '');
  t.match(
    (await say('plugin', 'list')).data.plugins.at(-1),
    { status: 'changed' },
    'what was added to is not it',
  );
});

t.test('invalid plugin arguments are refused', async (t) => {
  const { say } = scene(t);
  for (const line of [
    ['plugin', 'new', 'signer', 'x'],
    ['plugin', 'new', 'gate', 'Two Words'],
    ['plugin', 'new', 'gate', '../x'],
    ['plugin', 'trust', 'sha256:12'],
    ['plugin', 'trust'],
  ])
    t.equal((await say(...line)).error?.code, 'USAGE', line.join(' '));
  t.equal((await say('plugin', 'add', 'nowhere')).error?.code, 'INPUT_UNREADABLE');
  t.equal((await say('plugin', 'add', 'src')).error?.code, 'PLUGIN_INVALID');
});

t.test('a rule with a built-in name is refused by `new`, `test` and `add`', async (t) => {
  const { sample, say } = scene(t);
  for (const id of ['scope', 'cedar']) {
    t.match(await say('plugin', 'new', 'gate', id), { code: 129, error: { code: 'PLUGIN_INVALID' } });
    const box = join(sample.root, `tools-${id}`);
    mkdirSync(box);
    const rules = [{ id, point: 'patch', module: 'a.js' }];
    const manifest = { name: 'mine', version: '1.0.0', type: 'module', writ: { api: 1, rules } };
    writeFileSync(join(box, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(box, 'a.js'), 'export const judge = () => [];\n');
    for (const command of ['test', 'add'])
      t.match(await say('plugin', command, `tools-${id}`), {
        error: { code: 'PLUGIN_INVALID', details: { rule: id } },
      });
  }
  t.notOk(existsSync(join(sample.root, '.writ/config.toml')), 'nothing is pinned');
});

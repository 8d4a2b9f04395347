import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtures, makeSample, sampleSpec } from '../engine/run/sample.ts';
import { copySources, makeOutsider, packIn, runTo } from './packed-package.ts';

t.setTimeout(300_000);

t.test('the compiled package does the main job: workers, rules and plugins are found in it', async (t) => {
  const { installed } = makeOutsider();
  const launcher = join(installed, 'bin', 'writ.js');
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  const writ = (...args: string[]) => {
    const done = runTo(process.execPath, [launcher, ...args, '--json'], sample.root, sample.env);
    return { status: done.status, text: `${done.out}${done.err}` };
  };
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  for (const line of [
    ['spec', 'validate', spec],
    ['plan', spec],
    ['run', spec, '--patch', patch],
    ['verify', 'HEAD'],
    ['fsck'],
  ]) {
    const { status, text } = writ(...line);
    t.equal(status, 0, `${line.join(' ')}: ${text.slice(0, 1000)}`);
    t.match(JSON.parse(text), { ok: true, command: new RegExp(`^${line[0]}`) }, `${line.join(' ')} was done`);
  }

  const lines: readonly (readonly [line: readonly string[], status: number])[] = [
    [['verify', 'HEAD'], 0],
    [['verify', 'no-such-name'], 128],
    [['verify', 'HEAD', '--type', 'https://example.org/other'], 1],
    [['verify', 'HEAD', '--explain'], 0],
    [['verify', '--help'], 0],
    [['verify'], 129],
    [['verify', 'run'], 128],
    [['verify', '--version'], 0],
  ];
  for (const [line, status] of lines) {
    const alone = writ(...line);
    const argv = [launcher, '--no-color', ...line, '--json'];
    const among = runTo(process.execPath, argv, sample.root, sample.env);
    t.equal(alone.status, status, line.join(' '));
    t.same([alone.status, alone.text], [among.status, `${among.out}${among.err}`], 'one program, two files');
  }
  const probe = join(sample.home, 'probe.cjs');
  writeFileSync(probe, "process.on('exit', () => console.error(process.moduleLoadList.join('|') + '|'));");
  const file = join(sample.home, 'bundle.json');
  writeFileSync(file, '{}');
  const loadedBy = (...line: string[]) =>
    runTo(process.execPath, ['--require', probe, launcher, ...line], sample.root, sample.env).err;
  const [head, bundle] = [loadedBy('verify', 'HEAD'), loadedBy('verify', file)];
  for (const name of [
    'worker_threads',
    'internal/deps/undici/undici',
    'internal/crypto/webcrypto',
    'zlib',
    'v8',
  ])
    t.notMatch(head, `NativeModule ${name}|`, `a commit is verified without ${name}`);
  t.match(head, 'NativeModule child_process|');
  t.match(bundle, 'NativeModule crypto|');
  t.notMatch(bundle, 'NativeModule child_process|', 'a file is verified without processes');

  const program = readFileSync(join(installed, 'dist', 'bin', 'verify-alone.js'), 'latin1');
  t.notMatch(program, /[^\0-\x7f]/, 'a text that is not all ASCII is twice as large');
});

t.test('packing builds: where nothing was built the package has its code and no sources', async (t) => {
  const { installed } = makeOutsider();
  for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/plugin.js', 'dist/testing.js', 'bin/writ.js'])
    t.ok(existsSync(join(installed, path)), path);
  t.strictSame(globSync('**/*.ts', { cwd: installed, exclude: ['**/*.d.ts', 'dist/fixtures/**'] }), []);
});

t.test('a package without its code cannot be made: a build that fails fails the pack', async (t) => {
  const copy = copySources();
  t.notOk(existsSync(join(copy, 'dist')));
  writeFileSync(join(copy, 'index.ts'), 'export const broken = ;\n');
  const { status, out } = packIn(copy);
  t.not(status, 0);
  t.match(out, /index\.ts\(1,23\): error TS1109/);
  t.strictSame(globSync('*.tgz', { cwd: copy }), []);
});

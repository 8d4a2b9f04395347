import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { fixtures, type Json, makeSample, sampleSpec } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { copySources, makeOutsider, packIn, runTo } from './packed-package.ts';

t.setTimeout(300_000);

long('the compiled package runs, verifies and validates with its workers, rules and plugins', async (t) => {
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
  const bare = join(sample.home, 'remote.git');
  sample.git('clone', '-q', '--bare', sample.root, bare);
  sample.git('remote', 'add', 'origin', bare);
  sample.git('fetch', '-q', 'origin');
  sample.git('branch', '-q', '--set-upstream-to=origin/main');
  for (const line of [
    ['spec', 'validate', spec],
    ['plan', spec],
    ['run', spec, '--patch', patch, '--push'],
    ['verify', 'HEAD'],
    ['fsck'],
  ]) {
    const { status, text } = writ(...line);
    t.equal(status, 0, `${line.join(' ')}: ${text.slice(0, 1000)}`);
    t.match(JSON.parse(text), { ok: true, command: new RegExp(`^${line[0]}`) }, `${line.join(' ')} was done`);
  }
  t.equal(sample.git('rev-parse', 'origin/main'), sample.git('rev-parse', 'HEAD'), 'the commit was pushed');

  const constraints = { denySubstrings: ['--test'] };
  const denied = { tool: 'workspace.command', actions: ['execute'], constraints };
  // What is loaded for these stands in files of its own.
  const seldom: readonly (readonly [name: string, more: Json, status: number])[] = [
    ['elsewhere', { objmodel: { objectStore: { backend: 'external-local' } } }, 0],
    ['grammar', { security: { toolAcl: { deny: [denied] } } }, 0],
    ['token', { intent: { problemStatement: `The key is ghp_${'Zq7wK2'.repeat(6)}` } }, 1],
    [
      'clusters',
      {
        intent: { touchHints: { files: ['src/*.js'] } },
        objmodel: { planGeneration: { decompositionMode: 'per-file-cluster' } },
      },
      0,
    ],
  ];
  for (const [name, more] of seldom) writeFileSync(join(sample.root, name), sampleSpec(more));
  t.match(writ('spec', 'validate', 'grammar').text, /SEMANTIC_CHECK_COMMAND_DENIED/);
  t.match(writ('spec', 'validate', 'token').text, /SEMANTIC_SECRET/);

  const lines: readonly (readonly [line: readonly string[], status: number])[] = [
    [['verify', 'HEAD'], 0],
    [['verify', 'no-such-name'], 128],
    [['verify', 'HEAD', '--type', 'https://example.org/other'], 1],
    [['verify', 'HEAD', '--explain'], 0],
    [['verify', '--help'], 0],
    [['verify'], 129],
    [['verify', 'run'], 128],
    [['verify', '--version'], 0],
    [['spec', 'validate', spec], 0],
    [['spec', 'validate', spec, '--repo', sample.home], 0],
    ...seldom.map(([name, , status]) => [['spec', 'validate', name], status] as const),
    [['spec', 'validate', patch], 1],
    [['spec', 'validate', '--help'], 0],
    [['spec', 'validate'], 129],
    [['spec', 'validated'], 129],
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
  const loadedIn = (cwd: string, ...line: string[]) =>
    runTo(process.execPath, ['--require', probe, launcher, ...line], cwd, sample.env).err;
  const loadedBy = (...line: string[]) => loadedIn(sample.root, ...line);
  const [head, bundle] = [loadedBy('verify', 'HEAD'), loadedBy('verify', file)];
  const outside = mkdtempSync(join(tmpdir(), 'writ-outside-'));
  t.teardown(() => rmSync(outside, { recursive: true }));
  const [inside, alone] = [sample.root, outside].map((cwd) => loadedIn(cwd, 'spec', 'validate', spec));
  for (const name of [
    'worker_threads',
    'internal/deps/undici/undici',
    'internal/crypto/webcrypto',
    'zlib',
    'v8',
    'fs/promises',
  ]) {
    t.notMatch(head, `NativeModule ${name}|`, `a commit is verified without ${name}`);
    t.notMatch(inside, `NativeModule ${name}|`, `a contract is validated without ${name}`);
  }
  t.match(inside, 'NativeModule child_process|');
  t.notMatch(alone, 'NativeModule child_process|', 'outside of a repository without processes');
  t.match(alone, 'NativeModule path|');
  t.match(head, 'NativeModule child_process|');
  t.match(bundle, 'NativeModule crypto|');
  t.notMatch(bundle, 'NativeModule child_process|', 'a file is verified without processes');

  for (const name of [
    'bin/verify-alone.cjs',
    'bin/validate-alone.cjs',
    'bin/run-alone.cjs',
    'bin/code-alone.cjs',
    'verify.js',
  ]) {
    const own = join(installed, 'dist', name);
    const program = readFileSync(own, 'latin1');
    t.notMatch(program, /[^\0-\x7f]/, `${name}: a text that is not all ASCII is twice as large`);
    // Whatever it loads besides is there, but for the other commands: its words never name one.
    for (const [, place = ''] of program.matchAll(/\b(?:import|__load)\("(\.[^"]+)"\)/g))
      if (!place.includes('/commands/'))
        t.ok(existsSync(join(dirname(own), place)), `${name} finds ${place}`);
  }
});

long('packing builds the code and leaves out the TypeScript sources', async (t) => {
  const { installed } = makeOutsider();
  for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/plugin.js', 'dist/testing.js', 'bin/writ.js'])
    t.ok(existsSync(join(installed, path)), path);
  t.strictSame(globSync('**/*.ts', { cwd: installed, exclude: ['**/*.d.ts', 'dist/fixtures/**'] }), []);
});

long('packing fails if the build fails', async (t) => {
  const copy = copySources();
  t.notOk(existsSync(join(copy, 'dist')));
  writeFileSync(join(copy, 'index.ts'), 'export const broken = ;\n');
  const { status, out } = packIn(copy);
  t.not(status, 0);
  t.match(out, /index\.ts\(1,23\): error TS1109/);
  t.strictSame(globSync('*.tgz', { cwd: copy }), []);
});

long(
  'two builds of the same sources give the same bytes, whatever the umask, time zone and directory',
  (t) => {
    const umask = process.umask();
    t.teardown(() => process.umask(umask));
    const [first, second] = [
      { mask: 0o022, zone: 'UTC' },
      { mask: 0o077, zone: 'Asia/Tokyo' },
    ].map(({ mask, zone }) => {
      process.umask(mask);
      const copy = copySources();
      runTo('chmod', ['-R', mask === 0o077 ? 'go-rwx' : 'go+r', copy], copy);
      const { status, out, err } = packIn(copy, { TZ: zone, WRIT_BUILD_UNCHECKED: '1' });
      t.equal(status, 0, err);
      return readFileSync(join(copy, out.trim()));
    });
    t.ok(first?.equals(second ?? Buffer.alloc(0)));
    t.end();
  },
);

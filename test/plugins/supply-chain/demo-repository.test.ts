import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { long } from '../../rooms/long.ts';
import { buildDemoRepository, demoFixture, git } from './build-demo-repository.ts';

const patches = ['fix', 'bad-no-tests', 'bad-eval', 'bad-out-of-scope'] as const;
// Whole test suites on a busy machine.
t.setTimeout(180_000);

long('the demo repository has a bug, its fix and three bad patches', async (t) => {
  const directory = join(t.testdir(), 'orders');
  await buildDemoRepository(directory);
  spawnSync('npm', ['ci', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory });

  const regressions = [
    'a beginning of the secret is refused',
    'an empty secret is refused',
    'an id without the whole secret is no client',
    'the secret with more behind it is refused',
  ];

  /** Runs unit and HTTP tests on the working tree; the names of the tests that passed and failed. */
  function run() {
    const env = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
    const files = [
      ...readdirSync(join(directory, 'test')).map((name) => `test/${name}`),
      'integration/http.check.js',
    ];
    // One process for all of them: starting one per file costs more than the tests.
    const script = files.map((file) => `await import('./${file}');`).join('\n');
    const args = ['--test-reporter=tap', '--input-type=module', '-e', script];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' });
    const names = (sign: RegExp) => [...stdout.matchAll(sign)].map(([, name]) => name);
    return { status, passed: names(/^ok \d+ - (.*)$/gm), failed: names(/^not ok \d+ - (.*)$/gm) };
  }
  const apply = (name: string) => git(directory, 'apply', '--index', join(demoFixture, `${name}.patch`));
  const reset = () => git(directory, 'reset', '-q', '--hard', 'HEAD');
  const touched = () => git(directory, 'diff', '--cached', '--name-only').split('\n');

  await t.test('the repository has two commits, a clean tree and passing tests', async (t) => {
    t.equal(git(directory, 'rev-list', '--count', 'main'), '2');
    t.equal(git(directory, 'status', '--porcelain'), '');
    const { status, passed, failed } = run();
    t.strictSame([status, passed.length, failed], [0, 23, []]);
    t.equal(spawnSync(process.execPath, ['scripts/build.js'], { cwd: directory }).status, 0);
    t.equal(git(directory, 'status', '--porcelain'), '', 'what tests and build leave behind is ignored');
  });

  await t.test('the lockfile holds the license and integrity of every vendored package', async (t) => {
    const lock = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { resolved?: string; integrity?: string; license?: string }>;
    };
    const vendored = Object.entries(lock.packages).filter(([path]) => path !== '');
    t.equal(vendored.length, 2);
    for (const [path, { resolved = '', integrity, license }] of vendored) {
      const bytes = readFileSync(join(directory, resolved.replace('file:', '')));
      t.equal(integrity, `sha512-${createHash('sha512').update(bytes).digest('base64')}`, path);
      t.match(license, /^(MIT|ISC)$/);
    }
  });

  await t.test('the second commit accepts a client that presents only part of its secret', async (t) => {
    const probe = `
      const { authenticate } = await import('./src/auth.js');
      const { clients, headerOf } = await import('./testing/clients.js');
      const headers = ['Bearer pantry.', headerOf('pantry').slice(0, -20), headerOf('pantry') + 'x', 'Bearer pantry.wrong'];
      process.stdout.write(JSON.stringify(headers.map((header) => authenticate(header, clients)?.id ?? null)));`;
    const ask = () =>
      JSON.parse(
        spawnSync(process.execPath, ['--input-type=module', '-e', probe], {
          cwd: directory,
          encoding: 'utf8',
        }).stdout,
      ) as unknown;
    t.strictSame(ask(), ['pantry', 'pantry', 'pantry', null]);
    git(directory, 'checkout', '-q', 'HEAD^', '--', 'src/auth.js');
    t.strictSame(ask(), [null, null, null, null], 'the first commit did not');
    reset();
    apply('fix');
    t.strictSame(ask(), [null, null, null, null], 'nor does the fix');
    reset();
  });

  await t.test('the regression tests fail without the fix and pass with it', async (t) => {
    const before = run().passed;
    apply('fix');
    const { status, passed } = run();
    t.equal(status, 0);
    t.strictSame(
      before.filter((name) => !passed.includes(name)),
      [],
      'nothing that passed is lost',
    );
    git(directory, 'checkout', '-q', 'HEAD', '--', 'src');
    t.strictSame(run().failed.sort(), regressions);
    reset();
  });

  await t.test('each bad patch passes every test and has only the fault it is named for', async (t) => {
    const spec = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
    if (!spec.ok) throw new Error('the contract is not valid');
    const inScope = spec.document.intent.inScope;
    for (const name of patches) {
      apply(name);
      const paths = touched();
      const added = git(directory, 'diff', '--cached', '-U0')
        .split('\n')
        .filter((line) => /^\+(?!\+\+)/.test(line));
      t.strictSame(
        {
          status: run().status,
          noTests: !added.some((line) => /^\+test\(/.test(line)),
          eval: added.some((line) => /\beval\(/.test(line)),
          outOfScope: paths.filter((path) => !inScope.includes(path)),
        },
        {
          status: 0,
          noTests: name === 'bad-no-tests',
          eval: name === 'bad-eval',
          outOfScope: name === 'bad-out-of-scope' ? ['src/rate-limit.js'] : [],
        },
        name,
      );
      reset();
    }
  });

  await t.test('the demo spec is valid without issues and requires every artifact', async (t) => {
    const read = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
    if (!read.ok) throw new Error('the contract is not valid');
    t.strictSame(read.issues, []);
    const { risk, artifacts, provenance } = read.document;
    t.match(risk, { level: 'high', humanInLoop: { required: true, minApprovers: 2 } });
    t.match(provenance, { requireSlsaProvenance: true, requireSbom: true });
    t.strictSame(artifacts.required.map(({ name }) => name).sort(), [
      'build-log',
      'patchset',
      'provenance-attestation',
      'release-notes',
      'sast-report',
      'sbom',
      'sca-report',
      'test-log',
      'transparency-proof',
    ]);
    t.ok(artifacts.required.every(({ format, required }) => format !== '' && required));
  });
});

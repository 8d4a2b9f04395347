import { execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import t from 'tap';
import { long } from '../rooms/long.ts';
import { launcherOptions } from '../starter/program.ts';

const launcher = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
const source = readFileSync(launcher, 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function writ(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly file?: string; readonly node?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      options.node ?? process.execPath,
      [options.file ?? launcher, ...argv],
      {
        cwd: options.cwd ?? process.cwd(),
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '' },
      },
      (_fault, out, err) => resolve({ code: child.exitCode, out, err }),
    );
  });
}

t.test('a deleted working directory is reported, but does not stop `--help`', async (t) => {
  const from = (line: string): Promise<Ended> =>
    new Promise((resolve) => {
      const gone = join(t.testdir({ gone: {} }), 'gone');
      const script = `cd "$0" && rmdir "$0" && exec "$@" ${line}`;
      const child = execFile('sh', ['-c', script, gone, process.execPath, launcher], (_fault, out, err) =>
        resolve({ code: child.exitCode, out, err }),
      );
    });
  const gone = await from('code --web-only');
  t.equal(gone.code, 128);
  t.match(gone.err, /^writ: CURRENT_DIRECTORY_GONE: .*\n {2}hint: go to a directory/);
  t.equal((await from('--help')).code, 0);
});

long('a relative TMPDIR is one of the current directory', async (t) => {
  const cwd = t.testdir({ tmp: {}, 'a.txt': 'one\n' });
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', TMPDIR: 'tmp' };
  const run = (file: string, ...argv: string[]) => execFileSync(file, argv, { cwd, env, encoding: 'utf8' });
  const commit = ['-c', 'user.name=A', '-c', 'user.email=a@a.example', 'commit', '-qm', 'x'];
  run('git', 'init', '-q');
  for (const text of ['one', 'two']) {
    writeFileSync(join(cwd, 'a.txt'), text);
    run('git', 'add', 'a.txt');
    run('git', ...commit);
  }
  const scanned = run(process.execPath, launcher, 'scan', '--range', 'HEAD~1..HEAD', '--json');
  t.match(JSON.parse(scanned), { data: { files: 1 } });
});

/** Runs the launcher's text on a pretended Node version. */
function onNode(pretended: string): {
  readonly code: number | undefined;
  readonly err: string;
  readonly loaded: boolean;
} {
  let err = '';
  let loaded = false;
  const main = (): void => {
    loaded = true;
  };
  const modules: Readonly<Record<string, object>> = {
    'node:fs': { ...process.getBuiltinModule('node:fs'), existsSync: () => false },
    'node:module': { enableCompileCache: () => {}, createRequire: () => () => ({ main }) },
  };
  const fake = {
    versions: { node: pretended },
    argv: ['node', launcher, '--version'],
    exitCode: undefined,
    stderr: { write: (text: string) => (err += text) },
    env: process.env,
    getuid: process.getuid,
    getBuiltinModule: (name: string) => modules[name] ?? process.getBuiltinModule(name),
  };
  new Function('process', source.replace(/^#!.*/, ''))(fake);
  return { code: fake.exitCode, err, loaded };
}

t.test('the tests start the program with the same Node options as the launcher', async (t) => {
  t.ok(source.split('\n')[1]?.includes(`exec node ${launcherOptions.join(' ')} -- "$0" "$@"`));
});

t.test('an unsupported Node exits 128 with one line, a supported one starts', async (t) => {
  for (const node of [
    '0.12.18',
    '8.17.0',
    '18.20.8',
    '20.20.2',
    '22.22.1',
    '22.9.9',
    '23.11.1',
    '24.14.9',
    '25.9.0',
    'garbage',
  ]) {
    const { code, err, loaded } = onNode(node);
    t.equal(code, 128, node);
    t.match(err, /^writ: NODE_UNSUPPORTED: [^\n]*\n$/);
    t.match(err, node);
    t.equal(loaded, false);
  }
  for (const node of [
    '22.22.2',
    '22.23.0',
    '24.15.0',
    '24.21.0',
    '26.0.0',
    '31.1.0',
    '26.0.0-nightly20260101',
  ]) {
    t.strictSame(onNode(node), { code: undefined, err: '', loaded: true }, node);
  }
});

t.test('the launcher is ECMAScript 5, so that an old Node can parse it', async (t) => {
  const body = source.replace(/^#!.*/, '');
  const printed = (target: string): string =>
    transformSync(body, { target, minifyWhitespace: true, charset: 'utf8' }).code;
  t.equal(printed('es5'), printed('esnext'));
  t.notMatch(body, /\bimport\s*\(['"]|^import\b/m);
  t.doesNotThrow(() => new Function(body), 'as a script, not only as a module');
});

t.test('`--version` prints the version, whatever else is given', async (t) => {
  t.strictSame(await writ(['--version']), { code: 0, out: `${version}\n`, err: '' });
  t.strictSame(
    await writ(['--no-color', '--version']),
    { code: 0, out: `${version}\n`, err: '' },
    'the slow path agrees',
  );
});

t.test('the launcher runs the sources if present, else the build, also through a symlink', async (t) => {
  const dir = t.testdir({
    bin: {},
    dist: { bin: { 'main.js': "export const main = (argv) => console.log('built ' + argv);" } },
    'package.json': '{"name":"writ","version":"1.0.0","type":"module"}',
    elsewhere: {},
  });
  cpSync(launcher, join(dir, 'bin', 'writ.js'));
  symlinkSync('../bin/writ.js', join(dir, 'elsewhere', 'writ'));
  const file = join(dir, 'elsewhere', 'writ');
  t.match(await writ(['a'], { file }), { code: 0, out: 'built a\n' });
  writeFileSync(
    join(dir, 'bin', 'main.ts'),
    "export const main = (argv: string[]): void => console.log('source ' + argv);",
  );
  t.match(await writ(['a'], { file }), { code: 0, out: 'source a\n' });
});

long('`--env-file` is read by writ only, and Node ignores its NODE_OPTIONS', async (t) => {
  const dir = t.testdir({ 'evil.cjs': 'console.log("evil");' });
  writeFileSync(join(dir, '.env'), `NODE_OPTIONS=--require ${join(dir, 'evil.cjs')}\n`);
  const run = (...argv: readonly string[]) =>
    new Promise<Ended>((resolve) => {
      const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
      const child = execFile(launcher, argv, { cwd: dir, encoding: 'utf8', env }, (_fault, out, err) =>
        resolve({ code: child.exitCode, out, err }),
      );
    });
  const line = ['code', '--stdio', '--port', 'none'];
  const kept = await run(...line, '--env-file', '.env');
  t.match(kept, { code: 129, out: '', err: /USAGE/ });
  t.match(
    await run(...line, '--env-file', 'none'),
    { code: 129, err: /writ: / },
    'writ says what is wrong with it',
  );
});

t.test('a closed stdout ends quietly, and a full device is an error', async (t) => {
  const child = spawn(process.execPath, [launcher, '--json', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
  t.equal(err, '');
  if (!existsSync('/dev/full')) return t.comment('skipped: no /dev/full on this system');
  for (const option of ['--help', '--version']) {
    const full = spawn(process.execPath, [launcher, option], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    let told = '';
    full.stderr?.on('data', (chunk) => {
      told += chunk;
    });
    t.equal(await new Promise((resolve) => full.on('close', resolve)), 128, option);
    t.match(told, /^writ: OUTPUT_FAILED: [^\n]*\n$/, option);
  }
});

t.test('SIGINT and SIGTERM while a command waits for input exit 130', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = spawn(process.execPath, [launcher, '--json', 'spec', 'digest', '-'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    // More than a pipe holds: once it is gone the command reads, and has installed its handlers long before.
    await new Promise((resolve) => child.stdin.write(' '.repeat(1024 * 1024), resolve));
    child.kill(signal);
    t.equal(await new Promise((resolve) => child.on('close', resolve)), 130, signal);
    t.match(JSON.parse(out), { ok: false, command: 'spec digest', error: { code: 'RUN_INTERRUPTED' } });
  }
});

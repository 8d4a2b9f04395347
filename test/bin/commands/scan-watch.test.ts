import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { changesIn } from '../../../bin/command-parts/scan-sources.ts';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { outputOf } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';
import { startWrit } from '../start-writ.ts';

interface Line {
  readonly ok: boolean;
  readonly data?: { readonly findings: readonly { readonly rule: string; readonly path?: string }[] };
  readonly error?: { readonly code: string };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const env = { ...sample.env, PATH: `${dirname(process.execPath)}:${sample.env.PATH}` };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(sample.root, path)), { recursive: true });
    writeFileSync(join(sample.root, path), text);
  };
  const log = join(sample.home, 'git-calls');
  const git = outputOf('sh', ['-c', 'command -v git'], { cwd: sample.home, env }).toString().trim();
  mkdirSync(join(sample.home, 'tools'));
  const shim = `#!/bin/sh\necho "$2" >> '${log}'\nexec '${git}' "$@"\n`;
  writeFileSync(join(sample.home, 'tools', 'git'), shim, { mode: 0o755 });
  const scans = (): number =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((one) => one === 'diff').length;
  /** Acts, and waits until the change is scanned. */
  const scanned = async (act: () => void): Promise<void> => {
    const before = scans();
    act();
    await until(() => scans() > before);
  };
  const watch = (...argv: readonly string[]) =>
    startWrit(['scan', '--watch', ...argv], {
      cwd: sample.root,
      env: { ...env, PATH: `${join(sample.home, 'tools')}:${env.PATH}` },
    });
  return { ...sample, env, write, watch, scanned };
}

t.test('writ scan --watch', async (t) => {
  await t.test('prints a line of JSON for each result that differs from the one before', async (t) => {
    const { root, git, write, watch, scanned } = scene(t);
    write('src/watched.js', 'export const a = 1;\n');
    write('.gitignore', 'ignored.js\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'Base');
    const { child, out, until, ended } = watch('--json');
    t.teardown(() => child.kill('SIGKILL'));
    const lines = (): readonly Line[] =>
      out()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const next = async (count: number): Promise<Line | undefined> => {
      await until(() => lines().length >= count);
      return lines()[count - 1];
    };
    const first = await next(1);
    t.match(first, { ok: true });
    t.strictSame(faultsOf('scan', first?.data), []);
    write('src/watched.js', 'export const a = eval(b);\n');
    t.match(await next(2), { ok: false, error: { code: 'SCAN_FOUND' }, data: { findings: [{ line: 1 }] } });
    // Another text with the same findings, and what git does not show as changed, are no other result.
    await scanned(() => write('src/watched.js', 'export const a = eval(c);\n'));
    write('ignored.js', 'eval(d);\n');
    await scanned(() => write('untracked.js', 'eval(d);\n'));
    write('src/watched.js', 'export const a = 2;\n');
    t.match(await next(3), { ok: true }, 'cleared');
    write('new/deep/added.js', 'eval(e);\n');
    git('add', 'new');
    t.match(await next(4), { ok: false, data: { findings: [{ path: 'new/deep/added.js' }] } });
    rmSync(join(root, 'new'), { recursive: true });
    t.match(await next(5), { ok: true });
    write('new/deep/added.js', 'eval(e);\n');
    t.match(await next(6), { ok: false }, 'a directory that comes back is watched');
    git('commit', '--quiet', '-m', 'Committed');
    t.match(await next(7), { ok: true }, 'a commit');
    write('.writ/config.toml', 'colour = "red"\n');
    git('add', '.writ');
    git('commit', '--quiet', '-m', 'No configuration');
    t.match(await next(8), { ok: false, error: { code: 'CONFIG_INVALID' } }, 'a fault does not end it');
    git('revert', '--no-edit', 'HEAD');
    t.match(await next(9), { ok: true });
    child.kill('SIGINT');
    t.equal(await ended, 130);
    t.match(lines().slice(9), [{ ok: false, error: { code: 'RUN_INTERRUPTED' } }]);
  });

  await t.test('prints findings as `writ scan` does, and ends with its reader', async (t) => {
    const { git, write, watch } = scene(t);
    write('watched.js', 'eval(x);\n');
    git('add', '.');
    const { child, out, err, until, ended } = watch();
    t.teardown(() => child.kill('SIGKILL'));
    await until(() => /1 error, 0 warnings/.test(out()));
    t.match(out(), /^error {2}no-direct-eval {2}watched\.js:1:1$/m);
    t.match(err(), /watching .*, Ctrl\+C ends it/);
    child.stdout.destroy();
    write('watched.js', 'x();\n');
    t.equal(await ended, 0);
  });

  await t.test('refuses another source', async (t) => {
    const { root, env } = scene(t);
    for (const more of [['--range', 'HEAD~..HEAD'], ['--patch', '-'], ['--sarif', 'x'], ['a.js']]) {
      const { code, err } = await runLine(['scan', '--watch', ...more], commands, { cwd: root, env });
      t.match({ code, err }, { code: 129, err: /USAGE: `--watch` scans what is not committed yet/ });
    }
  });
});

t.test(
  'where the system does not watch so many directories, changesIn looks from time to time',
  async (t) => {
    const over = new AbortController();
    const changes = changesIn(async () => Array.from({ length: 8193 }, () => t.testdir()), over.signal);
    t.match(await changes.next(), { done: false });
    t.match(await changes.next(), { done: false });
    over.abort(new Error('over'));
    await t.rejects(changes.next(), { message: 'over' });
  },
);

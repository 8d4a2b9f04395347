import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sastRows } from '../../../gates/sast/rows.ts';
import { githubIngestionFaults } from '../../readers/documents/sarif/github-ingestion-faults.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const env = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Sample',
  GIT_AUTHOR_EMAIL: 'sample@sample.example',
  GIT_COMMITTER_NAME: 'Sample',
  GIT_COMMITTER_EMAIL: 'sample@sample.example',
};
const evil = 'const e = eval;\ne("1+1");\n// eval("no")\n';
const manifest = (dependencies: object): string =>
  JSON.stringify({ name: 'x', version: '1.0.0', dependencies });

interface Answer {
  readonly code: number;
  readonly error?: string;
  readonly data: {
    readonly findings: readonly {
      readonly rule: string;
      readonly severity: string;
      readonly path?: string;
    }[];
    readonly files: number;
    readonly lines: number;
    readonly rules: readonly string[];
  };
}

async function scan(t: Test, cwd: string, argv: readonly string[], stdin?: string): Promise<Answer> {
  const input = stdin === undefined ? {} : { stdin: Buffer.from(stdin) };
  const { code, out, err } = await runLine(['--json', 'scan', ...argv], commands, { cwd, env, ...input });
  t.notMatch(`${out}${err}`, /^\s+at /m, 'no stack trace');
  const document = JSON.parse(out);
  t.equal(document.ok, code === 0);
  if (document.data !== undefined) t.strictSame(faultsOf('scan', document.data), []);
  return { code, error: document.error?.code, data: document.data };
}

function repository(t: Test): { root: string; git: (...args: string[]) => string } {
  const root = t.testdir({ 'src.js': 'run();\n', 'package.json': manifest({}) });
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'base');
  return { root, git };
}

const errorsOf = ({ data }: Answer): readonly string[] =>
  data.findings.filter(({ severity }) => severity === 'error').map(({ rule, path }) => `${rule} ${path}`);

t.test('files are scanned as if every line was added', async (t) => {
  const root = t.testdir({
    'a.js': evil,
    'b.js': 'run();\n',
    'we"ird\tü.js': evil,
    empty: '',
    deep: { 'c.py': 'exec(x)\n' },
  });
  symlinkSync('../a.js', join(root, 'deep', 'link.js'));
  const all = await scan(t, root, ['.']);
  t.strictSame(errorsOf(all).toSorted(), [
    'no-direct-eval a.js',
    'no-direct-eval deep/c.py',
    'no-direct-eval we"ird\tü.js',
  ]);
  t.match(all, { code: 1, error: 'SCAN_FOUND', data: { files: 4, lines: 8 } });
  t.match(await scan(t, root, ['b.js']), { code: 0, data: { files: 1, lines: 1 } });
  t.match(await scan(t, root, ['absent']), { code: 129, error: 'INPUT_UNREADABLE' });
  t.match(await scan(t, root, ['empty']), { code: 1, error: 'PATCH_EMPTY' }, 'nothing scanned is no pass');
});

t.test('if only untracked files are new, the refusal names one and `git add`', async (t) => {
  const { root } = repository(t);
  writeFileSync(join(root, 'new.js'), evil);
  const { code, err } = await runLine(['scan'], commands, { cwd: root, env });
  t.equal(code, 1);
  t.match(err, /PATCH_EMPTY.*\n {2}hint: git does not track `new\.js`: run `git add` on it/);
});

long('a range scan covers dependencies, and tests if requested', async (t) => {
  const { root, git } = repository(t);
  writeFileSync(join(root, 'src.js'), `run();\n${evil}`);
  writeFileSync(join(root, 'package.json'), manifest({ 'left-pad': '1.3.0' }));
  git('commit', '--quiet', '-a', '-m', 'change');
  const both = await scan(t, root, ['--range', 'HEAD~1..HEAD']);
  t.strictSame(errorsOf(both), ['no-direct-eval src.js']);
  t.ok(both.data.findings.some(({ rule, severity }) => rule === 'new-dependency' && severity === 'warning'));
  const strict = await scan(t, root, ['--range', 'HEAD~1..HEAD', '--rules', 'new-dependency,new-tests']);
  t.match(strict.data.rules, ['new-tests', 'new-dependency']);
  const rules = new Set(errorsOf(strict).map((line) => line.split(' ')[0]));
  t.ok(rules.has('new-dependency') && rules.has('new-tests') && !rules.has('no-direct-eval'));
  t.match(await scan(t, root, ['--range', 'HEAD..HEAD']), { code: 1, error: 'PATCH_EMPTY' });
  t.match(await scan(t, root, ['--range', 'nowhere..HEAD']), { code: 128 });
});

long('a diff comes from stdin, a file or the uncommitted changes', async (t) => {
  const { root, git } = repository(t);
  t.match(await scan(t, root, []), { error: 'PATCH_EMPTY' }, 'nothing changed');
  writeFileSync(join(root, 'src.js'), `run();\n${evil}`);
  const diff = git('diff');
  for (const argv of [[], ['--patch', '-'], ['--patch', 'x.diff']]) {
    if (argv.length > 0) writeFileSync(join(root, 'x.diff'), diff);
    const answer = await scan(t, root, argv, diff);
    t.strictSame(errorsOf(answer), ['no-direct-eval src.js'], argv.join(' '));
    t.ok(
      answer.data.findings.some(({ rule, severity }) => rule === 'scan' && severity === 'note'),
      'says which rules need more than a diff',
    );
  }
  t.match(await scan(t, root, ['--patch', '-'], 'hello\n'), { error: 'PATCH_MALFORMED' });
  t.match(await scan(t, root, ['--patch', 'absent.diff']), { error: 'INPUT_UNREADABLE' });
  t.match(await scan(t, root, ['--patch', '-', 'src.js'], diff), { code: 129, error: 'USAGE' });
  t.match(await scan(t, root, ['--rules', 'nothing', 'src.js']), { code: 129, error: 'USAGE' });
});

t.test('the built-in static analysis runs by default and by name', async (t) => {
  const root = t.testdir({
    'a.py': 'import pickle as p\np.loads(body)\n',
    'b.py': 'import shelve\nshelve.open(name)\n',
    'c.js': 'exec();\n',
  });
  const all = await scan(t, root, ['.']);
  t.strictSame(errorsOf(all), ['sast a.py']);
  t.ok(all.data.rules.includes('sast'));
  const named = await scan(t, root, ['.', '--rules', 'sast', '--sarif', 'out.sarif']);
  t.match(named.data, {
    rules: ['sast'],
    findings: [{ path: 'a.py' }, { path: 'b.py', severity: 'warning' }],
  });
  const sarif = readFileSync(join(root, 'out.sarif'), 'utf8');
  t.strictSame(githubIngestionFaults(sarif), []);
  const [run] = JSON.parse(sarif).runs;
  t.match(run.results, [{ ruleId: 'sast/python-unsafe-deserialization' }, { ruleId: 'sast/python-shelve' }]);
  t.equal(run.tool.driver.rules.length, sastRows.length, 'every row that was asked is listed');
  t.match(await scan(t, root, ['b.py', 'c.js']), { code: 0 });
});

t.test('no output shows a detected secret', async (t) => {
  const secret = ['gh', 'p_', 'a8Fq2LmZx0Rw7TnV4bKc9DyE1hJ6sU3oPiGt'].join('');
  const root = t.testdir({ 'a.js': `const key = "${secret}";\neval(key);\n` });
  const shown = await runLine(['scan', 'a.js', '--sarif', 'out.sarif'], commands, { cwd: root, env });
  t.equal(shown.code, 1);
  t.match(shown.out, /eval\(key\)/);
  const { out } = await runLine(['--json', 'scan', 'a.js'], commands, { cwd: root, env });
  for (const text of [shown.out, shown.err, out, readFileSync(join(root, 'out.sarif'), 'utf8')])
    t.notOk(text.includes(secret.slice(8, 20)));
});

long('rule options come from the base commit of the change', async (t) => {
  const { root, git } = repository(t);
  const row = 'sast/python-unsafe-deserialization';
  const pickled = 'import pickle\npickle.loads(x)\n';
  const allowing = `[[rules.sast.allow]]\nrow = "${row}"\npaths = ["old/**"]\n`;
  const configured = (text: string): void => {
    mkdirSync(join(root, '.writ'), { recursive: true });
    writeFileSync(join(root, '.writ/config.toml'), text);
  };
  const commit = (): void => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', 'more');
  };
  const asked = ['--rules', 'sast'];
  mkdirSync(join(root, 'old'));
  writeFileSync(join(root, 'old/a.py'), pickled);
  configured(allowing);
  t.strictSame(
    errorsOf(await scan(t, root, ['old', ...asked])),
    ['sast old/a.py'],
    'not of the working tree',
  );
  commit();
  t.strictSame(
    errorsOf(await scan(t, root, ['--range', 'HEAD~1..HEAD', ...asked])),
    ['sast old/a.py'],
    'nor of the change',
  );
  t.strictSame(errorsOf(await scan(t, root, ['old', ...asked])), []);
  writeFileSync(join(root, 'new.py'), pickled);
  commit();
  t.strictSame(errorsOf(await scan(t, root, ['--range', 'HEAD~1..HEAD', ...asked])), ['sast new.py']);
  const diff = git('diff', 'HEAD~2..HEAD', '--', 'old/a.py');
  t.strictSame(errorsOf(await scan(t, root, ['--patch', '-', ...asked], diff)), []);
  const waiver = { rule: 'sast', path: 'new.py', owner: 'ann', reason: 'goes away', expires: '2999-01-01' };
  const entries = Object.entries(waiver).map(([key, value]) => `${key} = "${value}"\n`);
  writeFileSync(join(root, '.writ/waivers.toml'), `[[waiver]]\n${entries.join('')}`);
  t.strictSame(
    errorsOf(await scan(t, root, ['new.py', ...asked])),
    ['sast new.py'],
    'a waiver counts once committed',
  );
  commit();
  t.strictSame(errorsOf(await scan(t, root, ['new.py', ...asked])), []);
  configured('[rules.sats]\nallow = []\n');
  commit();
  t.equal((await scan(t, root, ['old', ...asked])).error, 'CONFIG_INVALID', 'a rule that there is not');
  const outside = mkdtempSync(join(tmpdir(), 'writ-test-'));
  t.teardown(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'a.py'), pickled);
  t.strictSame(
    errorsOf(await scan(t, outside, ['a.py', ...asked])),
    ['sast a.py'],
    'outside of a repository',
  );
});

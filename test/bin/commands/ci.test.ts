import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runFindings } from '../../../api/run/run-data.ts';
import { parseSummary, renderComment, toSummary } from '../../../bin/ci/summary.ts';
import { commands } from '../../../bin/command-table.ts';
import { annotations, reportToCi } from '../../../bin/report/ci.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { makeSample } from '../../engine/sample.ts';
import { runLine } from '../host.ts';
import { huge } from '../report/sample-view.ts';

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'src/price.js'), 'export const price = () => eval("1,\\n2");\n');
  sample.git('add', 'src');
  const seal = (env: Readonly<Record<string, string>>) =>
    runLine(['seal', '-m', 'feat: worse', '--check', 'true', '--no-seal', '--ci'], commands, {
      cwd: sample.root,
      env: { ...sample.env, CI: 'true', ...env },
    });
  return { ...sample, seal };
}

t.test('a refused run of a runner names nothing that only the runner has', async (t) => {
  const { root, env, git } = scene(t);
  writeFileSync(join(root, 'src/price.js'), 'export const price = () => 1;\n');
  git('add', 'src');
  const argv = ['seal', '-m', 'feat: other', '--check', '! grep "=> 1" src/price.js', '--ephemeral-key'];
  const seal = (...more: readonly string[]) =>
    runLine([...argv, ...more], commands, { cwd: root, env: { ...env, CI: 'true' } });
  t.match(await seal(), { code: 1, out: /git show refs\/ai\/.*writ explain /s }, 'which a person can type');
  const { code, out } = await seal('--ci');
  t.equal(code, 1);
  t.match(out, /^ {4}\| export const price = \(\) => 1;$/m, 'the output itself');
  t.notMatch(out, /git show|writ show|writ explain/);
  const [reports = ''] = readdirSync(root).filter((name) => name.startsWith('writ-reports-'));
  t.notMatch(readFileSync(join(root, reports, 'run.md'), 'utf8'), /writ show|writ explain/);
});

t.test('on GitHub a run has annotations, a summary, outputs and files', async (t) => {
  const { home, seal, root } = scene(t);
  const [summary, output, temp] = ['summary.md', 'output', 'temp'].map((name) => join(home, name));
  if (summary === undefined || output === undefined || temp === undefined) return;
  mkdirSync(temp);
  writeFileSync(summary, 'before\n');
  const { code, err } = await seal({
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_OUTPUT: output,
    RUNNER_TEMP: temp,
  });
  t.equal(code, 1);
  t.match(err, /^::error file=src\/price\.js,line=1,title=writ%3A no-direct-eval::/m);
  t.match(err, /^::notice title=writ%3A Would be refused::/m);
  t.match(readFileSync(summary, 'utf8'), /^before\n## Would be refused: feat: worse\n/);
  const said = readFileSync(output, 'utf8');
  t.match(said, /^outcome<<(writ-[0-9a-f]{32})\nabandon\n\1$/m);
  const directory = /^reports<<\S+\n(.*)$/m.exec(said)?.[1] ?? '';
  t.ok(directory.startsWith(temp));
  t.strictSame(readdirSync(directory).sort(), [
    'junit.xml',
    'run.html',
    'run.md',
    'run.sarif',
    'summary.json',
  ]);
  t.match(JSON.parse(readFileSync(join(directory, 'run.sarif'), 'utf8')), { version: '2.1.0' });
  t.notOk(readdirSync(root).some((name) => name.startsWith('writ-reports')));
});

t.test('on GitLab a run has a report of code quality; elsewhere files', async (t) => {
  const { seal, root, git } = scene(t);
  t.equal((await seal({ GITLAB_CI: 'true' })).code, 1);
  const [directory = ''] = readdirSync(root).filter((name) => name.startsWith('writ-reports'));
  t.equal(git('status', '--porcelain'), 'M  src/price.js', 'the reports leave the working tree clean');
  const issues = JSON.parse(readFileSync(join(root, directory, 'code-quality.json'), 'utf8'));
  const expected = { check_name: 'no-direct-eval', severity: 'major', location: { path: 'src/price.js' } };
  t.match(issues[0], { ...expected, fingerprint: /^[0-9a-f]{64}$/ });
  t.notMatch((await seal({})).err, /^::/m);
});

t.test('ten errors and ten warnings are annotated; the others are counted', async (t) => {
  const finding = (severity: 'error' | 'warning' | 'note', at: number) =>
    ({ rule: 'scope', severity, message: `x%\n::error::${at}`, path: 'a,b:c.js', line: at }) as const;
  const list = (severity: 'error' | 'warning' | 'note', count: number) =>
    Array.from({ length: count }, (_, at) => finding(severity, at + 1));
  const view = {
    runId: 'r',
    would: { type: 'abandon', rationale: 'no', isAdvised: false },
    findings: [...list('note', 3), ...list('warning', 12), ...list('error', 11)],
    stages: [],
  } as unknown as RunView;
  const lines = annotations(view);
  t.equal(lines.filter((line) => line.startsWith('::error ')).length, 10);
  t.equal(lines.filter((line) => line.startsWith('::warning ')).length, 10);
  t.match(lines[0], '::error file=a%2Cb%3Ac.js,line=1,title=writ%3A scope::x%25%0A::error::1');
  t.match(lines.at(-1), /; at least 3 more findings are in the summary/);
});

t.test('the summary for a comment is bounded, and can be read again', async (t) => {
  const findings = huge.findings.map((one) => ({
    ...one,
    message: '😀'.repeat(4000),
    path: 'a*'.repeat(3000),
  }));
  const odd = findings.map((one, at) => (at % 2 === 0 ? one : { ...one, message: `x${one.message}` }));
  const summary = toSummary({ ...huge, findings: odd });
  const read = parseSummary(Buffer.from(JSON.stringify(summary)));
  t.strictSame(read, JSON.parse(JSON.stringify(summary)));
  t.match(
    renderComment({ ...read, sentence: 'for @ana, see #7' }, []),
    'for &#64;<!-- -->ana, see \\#<!-- -->7',
  );
  const comment = renderComment(read, ['a note']);
  t.ok(comment.length <= 60_000, 'GitHub accepts 65,536 characters');
  const shown = comment.match(/^- \*\*/gm)?.length ?? 0;
  const [, hidden] = /^and at least (\d+) more findings/m.exec(comment) ?? [];
  t.equal(shown + Number(hidden), runFindings({ ...huge, findings: odd }).length);
});

t.test('a summary that GitHub would refuse is cut at a line', async (t) => {
  const directory = t.testdir();
  const file = join(directory, 'summary.md');
  const long = '<'.repeat(2000);
  const findings = huge.findings.map((one, at) => ({ ...one, message: `${at}${long}`, path: long }));
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file };
  const reports = await reportToCi({ ...huge, findings }, { cwd: directory, env, log: () => {} });
  const [whole, cut] = [readFileSync(join(reports, 'run.md'), 'utf8'), readFileSync(file, 'utf8')];
  t.ok(Buffer.byteLength(whole) > 1024 ** 2 && Buffer.byteLength(cut) < 1024 ** 2);
  const [shown = '', note] = cut.split('\n\n_Cut here');
  t.ok(whole.startsWith(`${shown}\n`), 'at the end of a line');
  t.match(note, 'run.html');
});

import { PassThrough } from 'node:stream';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { toResult } from '../../../bin/commands/run.ts';
import { renderRunHtml } from '../../../bin/report/html.ts';
import { printRun } from '../../../bin/report/human.ts';
import { renderRunJunit, renderRunMarkdown, renderRunSarif } from '../../../bin/report/run-formats.ts';
import { toCount, toDuration, toSize } from '../../../bin/report/words.ts';
import { createPrinter, openSink } from '../../../bin/terminal/print.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { githubIngestionFaults } from '../../readers/documents/sarif/github-ingestion-faults.ts';
import { abandoned, committed, hostile, huge } from './sample-view.ts';

function printed(view: RunView, quiet = false, beside?: 'hinted' | 'show'): string {
  const stream = new PassThrough();
  const sink = openSink(stream);
  const printer = createPrinter(sink, sink, { quiet, colourOut: false, colourErr: false, before: () => {} });
  printRun(printer, view, beside);
  return String(stream.read() ?? '');
}

t.test(
  'the terminal summary prints the decision first, then failures, evidence and the next command',
  async (t) => {
    const good = printed(committed);
    t.match(good, /^Committed {2}Refuse credentials/);
    t.match(good, 'commit 4f2e1a9c0b12d3e4f5061728394a5b6c7d8e9f00 on refs/heads/main');
    t.match(good, 'next  writ verify 4f2e1a9c0b12d3e4f5061728394a5b6c7d8e9f00');
    const bad = printed(abandoned);
    t.match(bad, /^Refused /);
    for (const part of [
      'unit  exit 1',
      'types  timed out',
      'src/rules/engine.js:88',
      'test/auth.test.js:31',
      'no check listed',
    ])
      t.match(bad, part);
    t.notMatch(bad, 'commit ');
    t.equal(printed(committed, true).trimEnd().split('\n').length, 3, 'under --quiet the decision alone');
    t.match(
      printed({ ...committed, notices: ['`risk.factors` names `x`'] }, true),
      /note {2}`risk\.factors` names `x`/,
    );
  },
);

t.test('`writ show` says how each check was observed', (t) => {
  const [stage, ...others] = abandoned.stages;
  const [check] = stage?.checks ?? [];
  if (!stage || !check) throw new Error('the sample has no check');
  const observed: readonly CheckRecord['observed'][] = [
    { by: 'trace', footprint: 'a'.repeat(64) },
    { by: 'filling', reason: '`strace` is not installed' },
    { by: 'none', reason: 'no test ran\u001b[2J' },
    undefined,
  ];
  const checks = observed.map((one, at): CheckRecord => {
    const { observed: _, ...rest } = check;
    return { ...rest, id: `check-${at}`, ...(one ? { observed: one } : {}) };
  });
  const view = { ...abandoned, stages: [{ ...stage, checks }, ...others] };
  const shown = printed(view, false, 'show');
  for (const words of [
    'check-0  observed by trace',
    'check-1  observed by filling',
    'check-2  unobserved (no test ran',
  ])
    t.match(shown, `note  ${words}`);
  t.notMatch(shown, '\u001b[2J');
  t.notMatch(shown, /check-3 {2}(?:un)?observed/);
  t.notMatch(printed(view), /observed by/, 'the summary after a run is short');
  t.end();
});

t.test('a finding leaves out what another finding says, and equal findings are printed once', async (t) => {
  const why = '1 test fails: `adds prices`';
  const said = (rule: string, message: string): Finding => ({ rule, severity: 'error', message });
  const [stage, ...others] = abandoned.stages;
  const [check] = stage?.checks ?? [];
  if (!stage || !check) throw new Error('the sample has no check');
  const failed: CheckRecord = { ...check, status: 'failed', findings: [said('tests-kept', why)] };
  const held = [
    said('check-outcome', `check \`unit\` failed with 2 findings, the first: ${why}`),
    said('other', 'something else: a reason'),
    said('other', 'something else: a reason'),
  ];
  const view: RunView = { ...abandoned, stages: [{ ...stage, checks: [failed], findings: held }, ...others] };
  for (const report of [printed(view), renderRunMarkdown(view)]) {
    t.equal(report.split('adds prices').length, 2, report);
    t.match(report, /check\W{1,2}outcome.*failed with 2 findings\n/);
    t.equal(report.split('something else: a reason').length, 2);
    t.notMatch(report, 'said above');
  }
});

t.test('the output of a failed second run is named by the files that it ran with', async (t) => {
  const [stage, ...others] = abandoned.stages;
  const [check] = stage?.checks ?? [];
  if (!stage || !check) throw new Error('the sample has no check');
  const { outputTail: _, ...base } = { ...check, id: 'unit', status: 'failed' as const, exitCode: 0 };
  const run = {
    status: 'failed' as const,
    laid: [{ path: 'test.sh' }],
    tree: 'a',
    exitCode: 2,
    timedOut: false,
    durationMs: 3,
    outputTail: { text: 'expected a_b' },
  };
  const shown = (more: Partial<CheckRecord>) =>
    printed({ ...abandoned, stages: [{ ...stage, checks: [{ ...base, ...more }] }, ...others] });
  const byPolicy = shown({ atPolicy: run });
  t.match(byPolicy, /failed {2}unit {2}exit 0, second run exit 2 {2}/);
  t.match(
    byPolicy,
    'output of the second run, with `test.sh` as the policy commit has it:\n    | expected a_b\n',
  );
  const { exitCode: __, ...late } = run;
  const withOld = shown({ withBaseTests: { ...late, timedOut: true } });
  t.match(withOld, /exit 0, second run timed out {2}/);
  t.match(withOld, 'output of the second run, with `test.sh` as the base has it:');
  t.match(shown({ outputTail: { text: 'own' } }), /exit 0 {2}\S+ ms\n(?:.*log.*\n)? {4}output\n {4}\| own/);
});

t.test(
  'reports show what a failed check printed: the terminal 20 lines, `writ show` and files all',
  async (t) => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at} </failure>\u001b[2J`);
    const [stage, ...others] = abandoned.stages;
    const [check, ...more] = stage?.checks ?? [];
    if (!stage || !check) throw new Error('the sample has no check');
    const failed: CheckRecord = { ...check, status: 'failed', outputTail: { text: lines.join('\n') } };
    const view = { ...abandoned, stages: [{ ...stage, checks: [failed, ...more] }, ...others] };
    const short = printed(view);
    t.match(short, /last 20 lines of output; more: writ show \S+\n {4}\| line 10 /);
    t.match(short, '| line 29 </failure>\\e[2J\n');
    t.notMatch(short, '| line 9 ');
    t.match(printed(view, false, 'show'), /output\n {4}\| line 0 /);
    const junit = renderRunJunit(view);
    new SaxesParser().write(junit).close();
    t.match(junit, />line 0 &lt;\/failure&gt;[\s\S]*line 29 [^<]*<\/failure><\/testcase>/);
    t.match(renderRunHtml(view), /<pre>line 0 &lt;\/failure&gt;[^<]*line 29 [^<]*<\/pre>/);
  },
);

t.test('a refused run suggests `writ explain`; `writ show` does not suggest itself', async (t) => {
  t.match(printed(abandoned), /next {2}writ explain /, 'why it was refused, and what to do');
  t.notMatch(printed(abandoned, false, 'show'), /next {2}/);
  t.match(printed(committed, false, 'show'), /next {2}writ verify /, 'what else can be done is told');
  t.notMatch(printed(committed, false, 'hinted'), /next {2}/);
});

t.test('a stage without checks lists its plugin stage checks and artifacts', async (t) => {
  const [made] = committed.artifacts;
  if (made === undefined) throw new Error('the sample has no artifact');
  const { checkId: _, ...own } = made;
  const view: RunView = {
    ...committed,
    stages: committed.stages.map((one) =>
      one.stage === 'release'
        ? {
            stage: 'release',
            status: 'skipped',
            expected: 0,
            ran: 0,
            checks: [],
            findings: [],
            asked: [{ name: 'linked-ticket', plugin: 'tickets', status: 'passed' }],
          }
        : one,
    ),
    artifacts: [{ ...own, stage: 'release', name: 'owners' }],
  };
  const words = 'no check listed, linked-ticket of plugin tickets passed, made owners';
  t.match(printed(view), words);
  t.match(renderRunHtml(view), words);
  t.match(renderRunMarkdown(view), /linked\W+ticket of plugin tickets passed, made owners/);
  t.match(renderRunJunit(view), 'name="linked-ticket of plugin tickets"');
});

t.test('files written outside the scope are reported on one line, with their names escaped', async (t) => {
  const [stage, ...others] = committed.stages;
  const [check, ...more] = stage?.checks ?? [];
  if (!stage || !check) throw new Error('the sample has no check');
  const paths = ['a\u001b[31m<b>|', 'b', 'c', 'd'].map((path) => ({ path, was: 'added' as const }));
  const own = { ...check, wroteOutside: { count: 7, atLeast: true as const, paths } };
  const view = { ...committed, stages: [{ ...stage, checks: [own, ...more] }, ...others] };
  for (const text of [printed(view), renderRunMarkdown(view), renderRunHtml(view)]) {
    t.match(text, /wrote at least 7 files outside the scope: a[^\n]*, b, c, …/);
    t.notMatch(text, '\u001b');
  }
  for (const text of [renderRunMarkdown(view), renderRunHtml(view)]) t.notMatch(text, '<b>');
  t.notMatch(printed(committed), 'outside the scope');
});

t.test('retries are listed one per line, with escaped names and a limit', async (t) => {
  const retry = {
    failed: 'candidate-1',
    tasks: ['task-1'],
    next: 'retry',
    reason: 'task `task-1` wrote it',
    places: [{ rule: 'sast', path: 'src/a\u001b[31m.py', line: 2 }],
  } as const;
  const first = Array.from({ length: 60 }, () => retry);
  const text = printed({ ...committed, retries: { count: 70, first } });
  t.match(text, 'tried again  task-1 after candidate-1  task `task-1` wrote it (sast src/a');
  t.notMatch(text, '\u001b');
  t.equal(text.split('tried again').length - 1, 50);
  t.match(text, 'and 20 more');
  t.notMatch(printed(committed), 'tried again');
});

t.test('a failed check names the command that prints its log, if it has one', async (t) => {
  const text = printed(abandoned);
  const [, unit = '', log, types = '', none] =
    /(.*unit {2}exit 1.*)\n(.*)\n(.*types {2}timed out.*)\n(.*)\n/.exec(text) ?? [];
  t.match(unit, 'failed');
  t.equal(log?.trim(), `log  git show refs/ai/content/${abandoned.runId}:test-log.txt`);
  t.match(types, 'failed');
  t.equal(none, '', 'neither a log nor a finding: nothing to say');
  t.notMatch(printed({ ...abandoned, artifacts: [] }), 'git show');
  const [first] = abandoned.artifacts.filter(({ checkId }) => checkId === 'unit');
  if (first === undefined) throw new Error('the sample has no log');
  const odd = { ...abandoned, artifacts: [{ ...first, path: "a b';rm -r x" }] };
  t.match(printed(odd), `git show 'refs/ai/content/${abandoned.runId}:a b'\\'';rm -r x'`, 'one shell word');
  t.notMatch(
    printed({ ...abandoned, artifacts: [{ ...first, stage: 'release' }] }),
    'git show',
    'a check of that name in another stage is another check',
  );
});

t.test('a rollback never claims that its commit is on the branch', async (t) => {
  const sha = '4f2e1a9c0b12d3e4f5061728394a5b6c7d8e9f00';
  const view: RunView = {
    ...abandoned,
    decision: { type: 'rollback', rationale: 'r', decisionDigest: '0', commitSha: sha },
  };
  const plain = (text: string): string => text.replace(/<[^>]*>|`/g, '');
  for (const text of [printed(view), renderRunMarkdown(view), renderRunHtml(view)]) {
    t.match(plain(text), /commit object 4f2e1a9c\w+ was made, but not put on refs\/heads\/main/i);
    t.notMatch(plain(text), `${sha} on refs/heads/main`);
  }
  for (const text of [printed(committed), renderRunMarkdown(committed), renderRunHtml(committed)])
    t.match(plain(text), `${sha} on refs/heads/main`);
  const stopped: RunView = { ...committed, state: 'interrupted' };
  for (const text of [printed(stopped), renderRunMarkdown(stopped), renderRunHtml(stopped)])
    t.match(plain(text), 'was made to be put on refs/heads/main', 'a run that was stopped');
});

t.test('untrusted text reaches the terminal without control sequences', async (t) => {
  t.notMatch(printed(hostile), /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]/);
});

t.test('lists of 1,000 entries are cut and report the rest', async (t) => {
  t.ok(printed(huge).split('\n').length < 200);
  t.match(printed(huge), 'and 950 more');
  t.ok(renderRunMarkdown(huge).length < 60_000, 'a comment on a pull request takes 65,536 characters');
  t.match(renderRunMarkdown(huge), 'more');
});

t.test('untrusted text cannot change the structure of the Markdown report', async (t) => {
  const text = renderRunMarkdown(hostile);
  t.notMatch(text, /<(?:script|img|a)\b/i);
  t.notMatch(text, /[\x00\x1b\u202e\u2066]/);
  t.strictSame(
    text
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .map((line) => line.split(' ', 2).join(' ').replace(/:.*/, '')),
    ['## Committed', '### Findings', '### Evidence', '### Verify'],
  );
  for (const line of text.split('\n')) {
    if (line.startsWith('| ') && /^\| (fast|integration|security|release) /.test(line))
      t.equal(line.match(/(?<!\\)\|/g)?.length, 5);
    t.equal((line.match(/(?<!\\)`/g)?.length ?? 0) % 2, 0, 'code spans are closed');
  }
  t.match(renderRunMarkdown(committed), '`writ verify 4f2e1a9c0b12d3e4f5061728394a5b6c7d8e9f00`');
});

t.test('durations, sizes and counts are formatted for people', async (t) => {
  t.strictSame([0, 45.4, 999, 1000, 59_949, 60_000, 125_000, 3_599_600, 3_840_000].map(toDuration), [
    '0 ms',
    '45 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '2 min 5 s',
    '1 h 0 min',
    '1 h 4 min',
  ]);
  t.strictSame([0, 1023, 1024, 1_048_576, 5e12].map(toSize), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.0 MiB',
    '4656.6 GiB',
  ]);
  t.strictSame([toCount(1, 'check'), toCount(0, 'check')], ['1 check', '0 checks']);
});

t.test('JUnit has one suite per stage, reports failed checks and escapes hostile text', async (t) => {
  const xml = renderRunJunit(abandoned);
  t.match(xml, /<testsuite name="fast" [^>]*failures="[1-9]/);
  t.match(xml, /<testcase [^>]*name="unit" [^>]*><failure message="/);
  t.notMatch(renderRunJunit(committed), /<failure/);
  const odd = renderRunJunit(hostile);
  t.strictSame(parsed(odd), parsed(renderRunJunit(hostile)), 'same run, same bytes');
  t.notMatch(odd, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]/);
  t.ok(parsed(odd) > 0, 'well-formed');
});

/** Elements of a document; throws where it is not well-formed. */
function parsed(xml: string): number {
  let elements = 0;
  const parser = new SaxesParser();
  parser.on('error', (fault) => {
    throw fault;
  });
  parser.on('opentag', () => {
    elements += 1;
  });
  parser.write(xml).close();
  return elements;
}

t.test('SARIF of a run lists every finding that has a location', async (t) => {
  const { runs } = JSON.parse(renderRunSarif(abandoned, '1.0.0'));
  const found = [...abandoned.findings, ...abandoned.stages.flatMap(({ findings }) => findings)];
  const placed = found.filter(({ path }) => path !== undefined);
  t.ok(runs[0].results.length >= placed.length && placed.length > 0);
  t.notMatch(renderRunSarif(hostile, '1.0.0'), /[\u202e\u2066]|\\u001b/);
  for (const view of [abandoned, hostile])
    t.strictSame(githubIngestionFaults(renderRunSarif(view, '1.0.0')), []);
});

t.test('missing provenance is reported on stderr, also with `--quiet`', async (t) => {
  for (const quiet of [false, true]) {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const look = { quiet, colourOut: false, colourErr: false, before: () => {} };
    const print = createPrinter(openSink(out), openSink(err), look);
    toResult(committed, print);
    t.equal(err.read(), null);
    const notices = ['PROVENANCE_MISSING: the log was not there'];
    t.match(toResult({ ...committed, notices }, print).data, {
      warnings: [{ code: 'PROVENANCE_MISSING', message: 'the log was not there' }],
    });
    t.equal(String(err.read()), 'warning: the log was not there\n');
  }
});

t.test('a waiting run prints its next command once, with its id', async (t) => {
  const { runId } = committed;
  for (const [waits, hints] of [
    ['budget', [`grant more with \`writ resume ${runId} --more-cost-units N\``]],
    [
      'approval',
      [
        `an approver signs it: \`writ approve ${runId}\`; then you go on: \`writ resume ${runId}\``,
        /you `writ push`, they `writ approve .* --remote REMOTE`, you `writ fetch`/,
      ],
    ],
  ] as const) {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const look = { quiet: false, colourOut: false, colourErr: false, before: () => {} };
    const print = createPrinter(openSink(out), openSink(err), look);
    const decision = { ...committed.decision, type: 'checkpoint', rationale: 'waits' } as RunView['decision'];
    const waiting = { for: waits, needed: 1, people: [] } as RunView['waiting'];
    const { commit: _, ...rest } = committed as RunView & { readonly commit?: unknown };
    const result = toResult({ ...rest, state: 'waiting', decision, waiting } as RunView, print);
    result.human(print);
    t.match(result, { exitCode: 4, error: { code: 'DECISION_WAITING', hints } });
    t.notMatch(String(out.read() ?? ''), /writ (?:resume|approve)/);
  }
});

import t from 'tap';
import type { CheckContext, ScanContext } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { ScanRules } from '../../../core/interfaces/scanner.ts';
import { evaluateScan } from '../../../gates/checks/evaluate-scan.ts';

type Files = Readonly<Record<string, string>>;
type Ran = Awaited<ReturnType<CheckContext['runCommand']>>;
type Place = readonly [path: string, line: number, more?: object];

const rules: ScanRules = {
  name: 'lines',
  format: 'sarif',
  report: 'stdout',
  exitCodes: [0, 1],
  failOn: 'warning',
  ignore: [],
};
const driver = { driver: { name: 'tool', version: '1.0.0' } };

/** What a run leaves that reports these places. */
function ran(report: unknown, more: object = {}): Ran {
  const bytes = Buffer.from(typeof report === 'string' ? report : JSON.stringify(report));
  const output = { bytes, totalBytes: bytes.length, truncated: false };
  const result = {
    exitCode: 1,
    timedOut: false,
    aborted: false,
    durationMs: 1,
    stdout: output,
    stderr: output,
  };
  return { result: { ...result, combined: output, ...more }, reports: [] };
}
function reportOf(places: readonly Place[], more: object = {}): object {
  const results = places.map(([uri, startLine, own]) => ({
    ruleId: 'danger',
    message: { text: 'danger is used' },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
    ...own,
  }));
  return { version: '2.1.0', runs: [{ tool: driver, results, ...more }] };
}
/** The places of a word in files. */
const placesIn = (files: Files): readonly Place[] =>
  Object.entries(files).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index): Place[] => (line.includes('danger(') ? [[path, index + 1]] : [])),
  );

async function evaluate(
  base: Files,
  candidate: Files,
  more: {
    readonly rules?: Partial<ScanRules>;
    readonly base?: Ran;
    readonly candidate?: Ran;
    readonly files?: object[];
  } = {},
) {
  const kept: Uint8Array[] = [];
  const scan: ScanContext = {
    rules: { ...rules, ...more.rules },
    nowMs: Date.parse('2026-06-15T12:00:00Z'),
    keptAtBase: async () => kept[0],
    runAtBase: async () => more.base ?? ran(reportOf(placesIn(base))),
    keepAtBase: async (report) => void kept.push(report),
    read: async (side, path) => {
      const text = { base, candidate }[side][path];
      return text === undefined ? undefined : Buffer.from(text);
    },
  };
  const context = {
    check: { id: 'scanner-lines', timeoutSeconds: 9, expectedExitCode: 0 },
    runCommand: async () => more.candidate ?? ran(reportOf(placesIn(candidate))),
    ruleInput: { patch: { files: more.files ?? [] } },
  } as unknown as CheckContext;
  const outcome = await evaluateScan(context, scan);
  return { ...outcome, kept, findings: outcome.findings.map(toText), raw: outcome.findings };
}
const toText = ({ severity, path, line, detail }: Finding): string =>
  `${severity} ${path === undefined ? detail?.code : `${path}:${line}`}`;

const old = 'class Shop {\n  price(a) {\n    return danger(a);\n  }\n}\n';
const top = 'start();\ndanger(1);\nstop();\n';

const matched: readonly (readonly [
  name: string,
  base: Files,
  candidate: Files,
  expected: string[],
  files?: object[],
])[] = [
  ['a result on another line is the old one', { 'a.js': old }, { 'a.js': `// more\n\n${old}` }, []],
  ['blanks do not count', { 'a.js': old }, { 'a.js': old.replace('danger(a)', '  danger(a)') }, []],
  [
    'a second copy in the same function is new',
    { 'a.js': old },
    { 'a.js': old.replace('    return', '    return danger(a);\n    return') },
    ['error a.js:4'],
  ],
  [
    'the same text in another function is new',
    { 'a.js': old },
    { 'a.js': old.replace('price', 'cost') },
    ['error a.js:3'],
  ],
  [
    'another text in the same function is new',
    { 'a.js': old },
    { 'a.js': old.replace('danger(a)', 'danger(b)') },
    ['error a.js:3'],
  ],
  [
    'a function that moves to another file keeps its result',
    { 'a.js': old },
    { 'a.js': '', 'b.js': old },
    [],
  ],
  ['a copy in another file is new', { 'a.js': old }, { 'a.js': old, 'b.js': old }, ['error b.js:3']],
  [
    'outside functions, one neighbouring line is enough',
    { 'a.js': top },
    { 'a.js': top.replace('stop', 'end') },
    [],
  ],
  [
    'outside functions, no neighbouring line is too little',
    { 'a.js': top },
    { 'a.js': 'x();\ndanger(1);\ny();\n' },
    ['error a.js:2'],
  ],
  [
    'a renamed file keeps its results',
    { 'a.js': top },
    { 'b.js': top },
    [],
    [{ path: 'b.js', oldPath: 'a.js', changeType: 'rename' }],
  ],
  [
    'a function in Python',
    { 'a.py': 'def f(x):\n    danger(x)\n' },
    { 'a.py': 'import y\n\ndef f(x):\n    y()\n    danger(x)\n' },
    [],
  ],
];

t.test('matches results across moved lines by rule, text and enclosing symbol', async (t) => {
  for (const [name, base, candidate, expected, files = []] of matched)
    t.strictSame((await evaluate(base, candidate, { files })).findings, expected, name);
});

t.test('counts and marks what is new, unchanged and gone', async (t) => {
  const outcome = await evaluate(
    { 'a.js': old, 'b.js': top },
    { 'a.js': old, 'c.js': top.replace('1', '2') },
  );
  t.strictSame(outcome.scan?.results, { new: 1, unchanged: 1, absent: 1, ignored: 0 });
  const marked = JSON.parse(Buffer.from(outcome.scan?.candidate ?? []).toString('utf8'));
  t.match(marked.runs[0].results, [
    { baselineState: 'unchanged' },
    { baselineState: 'new' },
    { ruleId: 'danger', baselineState: 'absent', locations: [{}] },
  ]);
  t.equal(outcome.kept.length, 1, 'the report at the base is kept');
});

t.test('marks a vulnerability of a VDR as unchanged if the base has it in all its packages', async (t) => {
  const vdr = (...found: (readonly [id: string, ...refs: string[]])[]) => ({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    vulnerabilities: found.map(([id, ...refs]) => ({
      id,
      affects: refs.map((ref) => ({ ref })),
      properties: [{ name: 'writ:baseline-state', value: 'unchanged' }],
    })),
  });
  const { scan } = await evaluate(
    {},
    {},
    {
      rules: { format: 'cyclonedx-vdr' },
      base: ran(vdr(['A', 'a'], ['B', 'a'])),
      candidate: ran(vdr(['A', 'a', 'b'], ['B', 'a'], ['C'])),
    },
  );
  const { vulnerabilities } = JSON.parse(String(Buffer.from(scan?.candidate ?? [])));
  t.match(vulnerabilities, [
    { id: 'A', properties: [{ value: 'new' }] },
    { id: 'B', properties: [{ value: 'unchanged' }] },
    { id: 'C', properties: [{ value: 'new' }] },
  ]);
});

t.test('the configured level decides which new results are errors', async (t) => {
  const candidate = ran(
    reportOf([
      ['a.js', 1, { level: 'error' }],
      ['a.js', 2, { level: 'warning' }],
      ['a.js', 3, { level: 'note' }],
      ['a.js', 4, { kind: 'pass' }],
    ]),
  );
  const at = async (failOn: ScanRules['failOn']) =>
    (await evaluate({}, { 'a.js': 'a\nb\nc\nd\n' }, { candidate, rules: { failOn } })).findings;
  t.strictSame(await at('error'), ['error a.js:1', 'warning a.js:2', 'warning a.js:3']);
  t.strictSame(await at('warning'), ['error a.js:1', 'error a.js:2', 'warning a.js:3']);
  t.strictSame(await at('note'), ['error a.js:1', 'error a.js:2', 'error a.js:3']);
});

t.test('suppressions count at the policy commit alone, and until their day', async (t) => {
  const inSource = { suppressions: [{ kind: 'inSource', status: 'accepted' }] };
  const candidate = ran(reportOf([['src/a.js', 1, inSource]]));
  const files = { 'src/a.js': 'danger(1)\n' };
  const entry = {
    rule: 'danger',
    path: 'src/**',
    owner: 'ana@example.org',
    until: '2026-06-15',
    reason: 'A test.',
  };
  const by = async (one?: object) =>
    evaluate({}, files, { candidate, rules: { ignore: one ? [{ ...entry, ...one }] : [] } });
  t.strictSame((await by()).findings, ['error src/a.js:1'], 'a suppression of the report');
  const ignored = await by({});
  t.strictSame(ignored.findings, ['note src/a.js:1']);
  t.equal(ignored.scan?.results.ignored, 1);
  t.match(
    Buffer.from(ignored.scan?.candidate ?? []).toString('utf8'),
    /"kind": "external"[^}]*ana@example.org/,
  );
  t.strictSame((await by({ until: '2026-06-14' })).findings, ['error src/a.js:1'], 'its day is past');
  t.strictSame((await by({ path: 'lib/**' })).findings, ['error src/a.js:1'], 'another path');
  t.strictSame((await by({ rule: 'dang' })).findings, ['error src/a.js:1'], 'another rule');
});

t.test('a scanner that did not inspect everything never passes', async (t) => {
  const invocation = (one: object) => ran(reportOf([], { invocations: [one] }));
  const note = (level: string) => ({
    toolExecutionNotifications: [{ level, message: { text: 'a.js: no' } }],
  });
  const cut = { bytes: Buffer.from('{}'), totalBytes: 9e6, truncated: true };
  const broken: readonly (readonly [name: string, ran: Ran, code: string, rules?: Partial<ScanRules>])[] = [
    ['it failed', invocation({ executionSuccessful: false }), 'SCAN_UNFINISHED'],
    [
      'it notifies of an error',
      invocation({ executionSuccessful: true, ...note('error') }),
      'SCAN_UNFINISHED',
    ],
    ['it gives no results', ran({ version: '2.1.0', runs: [{ tool: driver }] }), 'SCAN_UNFINISHED'],
    ['it ended with an exit code that is not listed', ran(reportOf([]), { exitCode: 2 }), 'SCAN_FAILED'],
    ['it ran out of its time', ran(reportOf([]), { timedOut: true }), 'SCAN_FAILED'],
    ['it printed nothing', ran(''), 'SCAN_FAILED'],
    ['it printed something else', ran('no findings\n'), 'SCAN_FAILED'],
    ['its report is cut off', ran('', { stdout: cut }), 'SCAN_FAILED'],
    ['it left no file', ran(reportOf([])), 'SCAN_FAILED', { report: 'out.sarif' }],
    ['it is another version', ran(reportOf([])), 'SCAN_VERSION', { version: '1.0.1' }],
  ];
  for (const [name, candidate, code, own = {}] of broken)
    t.strictSame((await evaluate({}, {}, { candidate, rules: own })).findings, [`error ${code}`], name);
  const fine = await evaluate(
    {},
    {},
    { candidate: invocation({ executionSuccessful: true, ...note('note') }) },
  );
  t.strictSame(fine.findings, []);
});

t.test('if the base cannot be scanned, every result is new', async (t) => {
  const outcome = await evaluate({ 'a.js': old }, { 'a.js': old }, { base: ran('', { exitCode: 2 }) });
  t.strictSame(outcome.findings, ['warning SCAN_BASE_FAILED', 'error a.js:3']);
  t.equal(outcome.kept.length, 0, 'such a run is not kept');
});

t.test('a long list of new results is cut, and still refuses', async (t) => {
  const files = { 'a.js': 'danger(1)\n'.repeat(250) };
  const { findings } = await evaluate({}, files);
  t.equal(findings.length, 201);
  t.equal(findings.at(-1), 'error SCAN_MORE_RESULTS');
});

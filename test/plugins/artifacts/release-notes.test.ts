import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { PatchFile } from '../../../core/interfaces/patch-set.ts';
import type { CheckRecord, StageRecord } from '../../../core/interfaces/stage.ts';
import { codeSpan, releaseNotesProducer } from '../../../plugins/artifacts/plugin.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { demoFixture } from '../supply-chain/build-demo-repository.ts';

const read = readIntentSpec(readFileSync(join(demoFixture, 'intent.json')));
if (!read.ok) throw new Error('the contract is not valid');
const { effective } = read;

const changed = (path: string, more: Partial<PatchFile> = {}): PatchFile => ({
  path,
  changeType: 'modify',
  binary: false,
  linesAdded: 3,
  linesDeleted: 1,
  start: 0,
  end: 0,
  ...more,
});
const check = (id: string, more: Partial<CheckRecord> = {}): CheckRecord => ({
  id,
  kind: 'testSuite',
  stage: 'fast',
  status: 'passed',
  required: true,
  command: 'x',
  expectedExitCode: 0,
  timedOut: false,
  durationMs: 1,
  startedAt: '2025-01-01T00:00:00Z',
  artifacts: [],
  findings: [],
  ...more,
});
const stages: readonly StageRecord[] = [
  {
    stage: 'fast',
    status: 'passed',
    expected: 2,
    ran: 2,
    findings: [],
    checks: [
      check('unit', { tests: { passed: 22, failed: 0, skipped: 1 } }),
      check('lint', { status: 'failed', required: false }),
    ],
  },
  { stage: 'security', status: 'skipped', expected: 0, ran: 0, checks: [], findings: [] },
];

async function notes(
  spec: EffectiveIntentSpec,
  files: readonly PatchFile[] = [changed('src/auth.js')],
): Promise<string> {
  const patch = {
    digest: 'd'.repeat(64),
    baseCommit: undefined,
    baseTree: '',
    candidateTree: '',
    format: 'GitDiff' as const,
    files,
    diff: new Uint8Array(new SharedArrayBuffer(0)),
  };
  const rest = {
    stages,
    name: 'release-notes',
    baseTimeMs: 0,
    ruleOptions: {},
    judge: async () => [],
    engineVersion: '0.0.0',
    readCandidate: async () => undefined,
    listCandidate: async () => [],
  };
  return Buffer.from((await releaseNotesProducer.produce({ spec, patch, ...rest })) ?? []).toString();
}
const withIntent = (intent: Partial<EffectiveIntentSpec['intent']>): EffectiveIntentSpec => ({
  ...effective,
  intent: { ...effective.intent, ...intent },
});

t.test('the notes list the objectives, the changed files and the stage outcomes', async (t) => {
  const files = [
    changed('src/auth.js'),
    changed('b.txt', { changeType: 'rename', oldPath: 'a.txt', linesAdded: 0, linesDeleted: 0 }),
    changed('p.png', { changeType: 'add', binary: true }),
  ];
  const text = await notes(effective, files);
  for (const line of [
    '# Fix: Refuse credentials that hold only a part of the secret',
    '## Objectives',
    '## Accepted when',
    '## Files (3)',
    '- `src/auth.js`: modify, +3 −1',
    '- `b.txt`: rename from `a.txt`, +0 −0',
    '- `p.png`: add, binary',
    '- fast: **passed** (2 of 2 checks ran)',
    '  - `unit`: **passed**, 22 tests passed, 0 failed, 1 skipped',
    '  - `lint`: **failed** (not required)',
    '- security: **skipped** (no checks)',
    `Intent \`${effective.metadata.id}\`, patchset \`sha256:${'d'.repeat(64)}\``,
  ]) {
    t.ok(text.split('\n').includes(line), line);
  }
  t.equal(await notes(effective, files), text, 'the same request gives the same bytes');
  t.match(await notes(withIntent({ changeType: 'feature' })), /^# Feature: /);
});

t.test('escapes markup, HTML, links and line breaks of untrusted text', async (t) => {
  const text = await notes(
    withIntent({
      summary: '<script>alert(1)</script> [x](javascript:y) **b**',
      objectives: ['one\n\n# Fake\n- [ ] item', 'https://evil.example @someone', 'a\u202eb'],
    }),
    [changed('a`b\n# c.txt'), changed('x``y')],
  );
  t.notMatch(text, /<script|\]\(javascript|^# Fake|https:\/\/evil|@someone/m);
  t.notOk(text.includes('\u202e'));
  t.equal(text.split('\n').filter((line) => line.startsWith('#')).length, 5, 'only our own headings');
  t.ok(text.includes('`` a`b # c.txt ``'));
  t.ok(text.includes('``` x``y ```'));
});

t.test('writes raw Markdown where the spec allows it, but still escapes HTML', async (t) => {
  const spec = withIntent({ summary: '**b** [x](y) <script>', objectives: ['a\nb'] });
  const outputHandling = { ...spec.security.outputHandling, encodingPolicy: 'none' as const };
  const text = await notes({ ...spec, security: { ...spec.security, outputHandling } }, []);
  t.match(text, '**b** [x](y) &#60;script&#62;');
  t.match(text, '- a b');
});

t.test('the notes of a 10,000-file change list 500 files and count the rest', async (t) => {
  const text = await notes(
    effective,
    Array.from({ length: 10_000 }, (_, index) => changed(`f${index}`)),
  );
  t.match(text, '## Files (10000)');
  t.match(text, '- and 9500 more');
  t.ok(text.length < 50_000);
});

t.test('a code span holds any text, including backticks and control characters', async (t) => {
  for (const [text, span] of [
    ['a', '`a`'],
    ['', '`  `'],
    ['`', '`` ` ``'],
    ['a\u0007b', '`a[U+0007]b`'],
    [' a\n b ', '`a b`'],
  ] as const) {
    t.equal(codeSpan(text), span);
  }
});

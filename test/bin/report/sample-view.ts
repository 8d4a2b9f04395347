import type { Finding } from '../../../core/interfaces/finding.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { ArtifactRecord, CheckRecord, StageName, StageRecord } from '../../../core/interfaces/stage.ts';

const start = Date.parse('2026-03-04T09:30:00.000Z');
const hex = (seed: string): string => seed.repeat(64).slice(0, 64);

function check(
  stage: StageName,
  id: string,
  at: number,
  durationMs: number,
  more: Partial<CheckRecord> = {},
): CheckRecord {
  return {
    id,
    kind: 'command',
    stage,
    status: 'passed',
    required: true,
    command: `npm run ${id}`,
    expectedExitCode: 0,
    exitCode: 0,
    timedOut: false,
    durationMs,
    startedAt: new Date(start + at).toISOString(),
    artifacts: [],
    findings: [],
    ...more,
  };
}

/** A second run of a check. */
function laidRun(parts?: readonly string[]): NonNullable<CheckRecord['atPolicy']> {
  return {
    status: 'failed',
    laid: [{ path: 'package.json', ...(parts ? { parts } : {}) }],
    tree: hex('e').slice(0, 40),
    exitCode: 1,
    timedOut: false,
    durationMs: 12,
    tests: { passed: 1, failed: 1, skipped: 0, failedTests: [{ name: 'b' }] },
    carried: { received: [], handedOn: [{ path: 'dist', sha256: hex('c'), entries: 1, bytes: 2 }] },
    log: hex('d'),
  };
}

function stage(
  name: StageName,
  checks: readonly CheckRecord[],
  more: Partial<StageRecord> = {},
): StageRecord {
  return {
    stage: name,
    status: checks.length === 0 ? 'skipped' : 'passed',
    expected: checks.length,
    ran: checks.length,
    checks,
    findings: [],
    ...more,
  };
}

function artifact(name: string, seed: string, more: Partial<ArtifactRecord> = {}): ArtifactRecord {
  return {
    name,
    stage: 'integration',
    path: `${name}.txt`,
    sha256: hex(seed),
    sizeBytes: 4096,
    contentType: 'text/plain',
    ...more,
  };
}

/** A bugfix that was sealed. */
export const committed: RunView = {
  runId: '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2',
  threadId: '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d3',
  state: 'decided',
  startedAt: new Date(start).toISOString(),
  finishedAt: new Date(start + 14_200).toISOString(),
  spec: {
    id: '6f1c2b0e-4d1a-4c53-9a5e-2f0d7b8c9e11',
    digest: hex('a1'),
    summary: 'Refuse credentials that hold only a part of the secret',
    changeType: 'bugfix',
    riskLevel: 'high',
    objectives: ['src/auth.js accepts a secret only when it is the whole secret'],
  },
  baseCommit: '9c1f0e7ab2d34c5566778899aabbccddeeff0011',
  targetRef: 'refs/heads/main',
  sandbox: 'bubblewrap',
  patch: {
    digest: hex('b2'),
    candidateTree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    files: [
      { path: 'src/auth.js', changeType: 'modify', linesAdded: 14, linesDeleted: 6 },
      { path: 'test/auth.test.js', changeType: 'modify', linesAdded: 41, linesDeleted: 0 },
      { path: 'CHANGELOG.md', changeType: 'modify', linesAdded: 3, linesDeleted: 0 },
    ],
  },
  decision: {
    type: 'commit',
    rationale: 'all 6 required checks passed, every required artifact is present, no rule found an error',
    commitSha: '4f2e1a9c0b12d3e4f5061728394a5b6c7d8e9f00',
    decisionDigest: hex('c3'),
  },
  stages: [
    stage('fast', [
      check('fast', 'lint', 300, 820),
      check('fast', 'unit', 310, 3120, {
        kind: 'testSuite',
        tests: { passed: 212, failed: 0, skipped: 3 },
        command: 'node --test test/',
      }),
    ]),
    stage('integration', [
      check('integration', 'http', 3500, 5400, {
        kind: 'testSuite',
        tests: { passed: 31, failed: 0, skipped: 0 },
      }),
      check('integration', 'bench', 3500, 1900, {
        required: false,
        status: 'failed',
        exitCode: 3,
        findings: [
          {
            rule: 'check-outcome',
            severity: 'warning',
            message: 'exit code 3, expected 0; the check is not required',
          },
        ],
      }),
    ]),
    stage('security', [check('security', 'licenses', 9100, 240, { kind: 'policy', command: 'licenses' })]),
    stage('release', [check('release', 'notes', 9500, 60), check('release', 'pack', 9500, 2300)]),
  ],
  findings: [
    {
      rule: 'new-dependency',
      severity: 'note',
      message: 'no new dependency',
      path: 'package.json',
      line: 12,
    },
  ],
  artifacts: [
    artifact('patchset', 'd4', { stage: 'per-task', contentType: 'text/x-diff', sizeBytes: 2311 }),
    artifact('test-log', 'e5', {
      checkId: 'unit',
      stage: 'fast',
      sizeBytes: 48_211,
      expiresAt: '2026-06-02T09:30:00.000Z',
      redactions: 2,
    }),
    artifact('sbom', 'f6', {
      stage: 'security',
      contentType: 'application/vnd.cyclonedx+json',
      sizeBytes: 1_204_113,
    }),
    artifact('provenance-attestation', '07', {
      stage: 'release',
      contentType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    }),
    artifact('transparency-proof', '18', { stage: 'release' }),
  ],
  provenance: {
    bundle: 'refs/ai/runs/0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2:provenance.sigstore.json',
    proof: 'refs/ai/runs/0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2:transparency-proof',
    keyId: hex('29'),
    logOrigin: 'writ.local/6f1c2b0e',
    logIndex: 41,
  },
};

const evil: Finding = {
  rule: 'no-direct-eval',
  severity: 'error',
  message: '`eval` is called with text from outside; expected no direct execution',
  path: 'src/rules/engine.js',
  line: 88,
  column: 5,
};

/** A change that was refused in an early stage. */
export const abandoned: RunView = {
  ...committed,
  decision: {
    type: 'abandon',
    rationale: 'the required check `unit` failed: 2 tests failed; the later stages did not start',
    decisionDigest: hex('c4'),
  },
  findings: [evil],
  stages: [
    stage(
      'fast',
      [
        check('fast', 'lint', 300, 820, { atPolicy: laidRun(['scripts.lint']), withBaseTests: laidRun() }),
        check('fast', 'unit', 310, 3120, {
          kind: 'testSuite',
          status: 'failed',
          exitCode: 1,
          tests: { passed: 210, failed: 2, skipped: 3 },
          findings: [
            {
              rule: 'check-outcome',
              severity: 'error',
              message: 'test `rejects an empty secret` failed',
              path: 'test/auth.test.js',
              line: 31,
            },
          ],
        }),
        check('fast', 'types', 320, 600_000, { status: 'failed', timedOut: true }),
      ],
      { status: 'failed' },
    ),
    stage('integration', [], { status: 'skipped', expected: 2 }),
    stage('security', []),
    stage('release', []),
  ],
  artifacts: committed.artifacts.slice(0, 2),
  provenance: {},
};

/** Text that wants to be markup, script, a link, a terminal command or something else than it looks like. */
export const hostileText =
  '"><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><a href="javascript:window.pwned=1">javascript:alert(1)</a>' +
  '</style></title>\u202egnp.exe\u2066\u200b\x1b[2J\x00`rm`|[x](http://evil.example) @everyone <!-- {{7*7}}\n# heading\n' +
  'W'.repeat(400);

function hostileCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(hostileCopy) as T;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        kept.has(key) ? one : typeof one === 'string' ? `${hostileText}${one}` : hostileCopy(one),
      ]),
    ) as T;
  }
  return value;
}

/** Closed sets of words that the engine itself writes; everything else may come from anywhere. */
const kept = new Set(['state', 'status', 'type', 'severity', 'kind', 'stage']);

/** Every text that an author, a check, a patch or a log can choose is hostile. */
export const hostile: RunView = hostileCopy({
  ...abandoned,
  decision: committed.decision ?? abandoned.decision,
  provenance: committed.provenance,
} as RunView);

/** One stage of 1,000 checks, two of which failed; 1,000 findings, artifacts and files. */
export const huge: RunView = {
  ...abandoned,
  stages: [
    stage(
      'fast',
      Array.from({ length: 1000 }, (_, index) =>
        check(
          'fast',
          `check-${String(index).padStart(4, '0')}`,
          index * 30,
          45,
          index % 500 === 7 ? { status: 'failed', exitCode: 1 } : {},
        ),
      ),
      { status: 'failed' },
    ),
    ...abandoned.stages.slice(1),
  ],
  findings: Array.from({ length: 1000 }, (_, index) => ({ ...evil, line: index + 1 })),
  artifacts: Array.from({ length: 1000 }, (_, index) =>
    artifact('test-log', 'ab', { checkId: `check-${index}` }),
  ),
  patch: {
    digest: hex('b2'),
    candidateTree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    files: Array.from({ length: 1000 }, (_, index) => ({
      path: `src/deep/folder/file-${index}.ts`,
      changeType: 'modify',
      linesAdded: 1,
      linesDeleted: 1,
    })),
  },
};

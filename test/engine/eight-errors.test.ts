import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const runs = fileURLToPath(new URL('../../fixtures/runs/', import.meta.url));

interface Case {
  readonly expect: {
    readonly type?: string;
    readonly error?: string;
    readonly rules?: readonly string[];
    readonly stages?: Readonly<Record<string, string>>;
    readonly notStarted?: readonly string[];
    readonly reason?: string;
  };
}

/**
 * The gate failures of the contract (document 1, Errors 1 to 8): whole runs that are refused for each, and runs beside
 * them that are not.
 */
const errors: readonly (readonly [error: string, refused: readonly string[], accepted: readonly string[]])[] =
  [
    [
      '1 a required check times out or ends with another exit code',
      ['a-check-past-its-time-out-refuses', 'an-unexpected-exit-code-refuses', 'a-test-that-fails-refuses'],
      [
        'the-expected-exit-code-passes-though-it-is-not-zero',
        'a-failing-check-that-is-not-required-is-reported-and-does-not-block',
      ],
    ],
    [
      '2 a required artifact is missing or is not what it should be at its stage',
      [
        'a-required-artifact-that-nobody-makes-refuses',
        'an-artifact-in-another-format-than-declared-refuses',
      ],
      ['an-artifact-in-the-declared-format-is-accepted', 'an-sbom-is-made-for-the-release'],
    ],
    [
      '3 an artifact that a check produces is not listed',
      ['an-artifact-that-the-contract-does-not-list-is-refused'],
      ['a-fix-with-a-new-test-is-committed'],
    ],
    [
      '4 a new dependency under no-new',
      ['a-new-dependency-is-refused-under-no-new'],
      ['a-new-dependency-with-an-allowed-licence-is-accepted-under-allow'],
    ],
    [
      '5 a new dependency with a license outside of allowedSpdx',
      [
        'a-new-dependency-with-a-forbidden-licence-is-refused',
        'a-new-dependency-without-a-licence-is-refused',
      ],
      ['a-new-dependency-with-an-allowed-licence-is-accepted-under-allow'],
    ],
    [
      '6 a bugfix without a test',
      ['a-fix-without-a-new-test-is-refused', 'a-test-file-that-is-only-touched-is-no-new-test'],
      [
        'a-fix-with-a-new-test-is-committed',
        'a-feature-needs-no-new-test',
        'a-bugfix-whose-contract-waives-new-tests-needs-none',
      ],
    ],
    [
      '7 a hard constraint is violated',
      [
        'the-wall-clock-ends-the-run',
        'a-new-dependency-is-refused-under-no-new',
        'a-licence-that-is-new-to-the-codebase-is-refused-without-a-review',
        'a-network-that-is-denied-has-no-way-out',
        'a-rule-with-hosts-and-no-reason-allows-nothing',
        'a-secret-in-added-lines-is-refused',
        'a-secret-that-the-patch-itself-marks-is-refused',
      ],
      [
        'a-fix-with-a-new-test-is-committed',
        'a-network-that-is-allowed-has-a-way-out',
        'a-rule-with-hosts-and-a-reason-opens-a-way-out',
      ],
    ],
    [
      '8 high risk without people in the loop',
      ['a-high-risk-without-two-approvers-is-refused', 'a-high-risk-without-anybody-in-the-loop-is-refused'],
      ['a-fix-with-a-new-test-is-committed'],
    ],
  ];

/** Moves of States and transitions that a run without people shows, each by a run. */
const moves: readonly (readonly [move: string, folder: string, expect: Case['expect']])[] = [
  [
    'an earlier stage fails: the later ones do not start',
    'a-later-stage-never-starts-after-a-failed-one',
    { type: 'abandon', stages: { fast: 'failed' }, notStarted: ['integration', 'security', 'release'] },
  ],
  [
    'the patch scan finds a direct execution: rejected before any stage',
    'a-direct-eval-is-refused',
    { type: 'abandon', rules: ['no-direct-eval'] },
  ],
  ['the wall clock is over: abandon', 'the-wall-clock-ends-the-run', { type: 'abandon' }],
  ['a write outside of the scope: refused', 'a-change-outside-the-scope-is-refused', { type: 'abandon' }],
];

t.test('each of the eight gate errors has refused runs and accepted runs', async (t) => {
  for (const [error, refused, accepted] of errors) {
    for (const folder of refused) {
      const { type, error: code } = expectOf(folder);
      t.ok(code !== undefined || (type !== undefined && type !== 'commit'), `${error}: ${folder}`);
    }
    for (const folder of accepted) t.equal(expectOf(folder).type, 'commit', `${error}: ${folder}`);
  }
  t.strictSame(
    errors.map(([error]) => error.slice(0, 1)),
    ['1', '2', '3', '4', '5', '6', '7', '8'],
  );
});

t.test('each transition between stages and decisions has a run', async (t) => {
  for (const [move, folder, expect] of moves) t.match(expectOf(folder), expect, move);
});

/** What `run-cases.test.ts`, which runs every folder, holds the run to. */
function expectOf(folder: string): Case['expect'] {
  const file = `${runs}${folder}/case.json`;
  if (!existsSync(file)) throw new Error(`no such run: ${folder}`);
  return (JSON.parse(readFileSync(file, 'utf8')) as Case).expect;
}

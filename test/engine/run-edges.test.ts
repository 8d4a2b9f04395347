import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { runIntent } from '../../engine/run.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { casesOf, long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, type Sample, sampleSpec } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: fix } as const;

/** The code that a run is refused with; the person's refs, index and files must be as before, and nothing recorded. */
async function refusal(
  t: Test,
  sample: Sample,
  code: string,
  run: () => Promise<unknown>,
): Promise<WritError | undefined> {
  const before = sample.state();
  try {
    await run();
    t.fail(`expected ${code}`);
  } catch (fault) {
    t.equal(isWritError(fault) ? fault.code : fault, code);
    t.equal(sample.state(), before, 'nothing moved');
    return isWritError(fault) ? fault : undefined;
  }
  return undefined;
}

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

t.test('a run refuses a patch that does not apply and records nothing', async (t) => {
  const sample = sampleOf(t);
  const bytes = Buffer.from(fix.toString('utf8').replace('count * cents + 1', 'count * cents + 2'));
  await refusal(t, sample, 'PATCH_DOES_NOT_APPLY', () => sample.run({ source: { kind: 'patch', bytes } }));
  t.equal(sample.git('for-each-ref', 'refs/ai'), '');
});

t.test('a run refuses a range that changes `.writ` when the base names no approver', async (t) => {
  const sample = sampleOf(t);
  sample.git('checkout', '--quiet', '-b', 'fix');
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ', 'config.toml'), '');
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'Judge myself');
  sample.git('checkout', '--quiet', 'main');
  await refusal(t, sample, 'PATCH_TOUCHES_STATE', () =>
    sample.run({ source: { kind: 'range', range: 'main..fix' } }),
  );
});

long('a run refuses local changes to a path of the patch and keeps other ones', async (t) => {
  const sample = sampleOf(t);
  writeFileSync(join(sample.root, 'docs', 'notes.md'), 'mine\n');
  const view = await sample.run({ source });
  t.equal(view.decision?.type, 'commit');
  t.equal(readFileSync(join(sample.root, 'docs', 'notes.md'), 'utf8'), 'mine\n');

  const dirty = sampleOf(t);
  writeFileSync(join(dirty.root, 'src', 'price.js'), 'mine\n');
  await refusal(t, dirty, 'WORKTREE_DIRTY', () => dirty.run({ source }));
  t.equal(dirty.git('for-each-ref', 'refs/ai'), '');
});

long('a run refuses a spec that must not run with the error code for the reason', async (t) => {
  const sample = sampleOf(t);
  const table: readonly (readonly [code: string, spec: Json])[] = [
    ['LIFECYCLE_NOT_ACTIVE', { lifecycle: { status: 'draft' } }],
    ['INTENTSPEC_UNSUPPORTED_VERSION', { apiVersion: 'intentspec.io/v2' }],
    ['INTENTSPEC_INVALID', { intent: { summary: 'two\nlines' } }],
    ['INTENTSPEC_INVALID', { objmodel: { objectStore: { aiRefPrefix: 'refs/heads/' } } }],
    ['INTENTSPEC_INVALID', { extra: true }],
    ['INTENTSPEC_INVALID', { metadata: { target: { baseRef: '--output=x' } } }],
    ['REF_NOT_FOUND', { metadata: { target: { baseRef: 'nowhere' } } }],
    ['REPOSITORY_MISMATCH', { metadata: { target: { repo: { type: 'local', locator: '/nowhere' } } } }],
    ['OS_UNSUPPORTED', { constraints: { platform: { supportedOS: ['plan9'] } } }],
    ['RUNTIME_MISMATCH', { constraints: { platform: { languageRuntime: 'node>=99' } } }],
    [
      'METRICS_SCHEMA_INVALID',
      { objmodel: { runPolicy: { metricsSchema: { cost_usd: { type: 'nonsense' } } } } },
    ],
    ['CONFIG_INVALID', { provenance: { transparencyLog: { mode: 'public-log' } } }],
    ['CONFIG_INVALID', { objmodel: { objectStore: { backend: 'external-s3' } } }],
  ];
  for (const [code, spec] of table) await refusal(t, sample, code, () => sample.run({ source }, spec));
  t.equal(sample.git('for-each-ref', 'refs/ai'), '');
});

t.test('a run refuses an unknown sandbox and one that cannot deny the network', async (t) => {
  const sample = sampleOf(t);
  await refusal(t, sample, 'SANDBOX_NONE_REFUSED', () => sample.run({ source, sandbox: 'none' }));
  await refusal(t, sample, 'SLOT_UNKNOWN', () => sample.run({ source, sandbox: 'nonsense' }));
});

t.test('under CI a run without a configured key is refused with SIGNER_EPHEMERAL', async (t) => {
  const sample = sampleOf(t);
  const inCi: Sample = { ...sample, env: { ...sample.env, CI: 'true' } };
  Object.assign(sample.env, { CI: 'true' });
  await refusal(t, inCi, 'SIGNER_EPHEMERAL', () => sample.run({ source }));
});

long('a run on an unborn HEAD uses the empty tree as its base', async (t) => {
  const sample = sampleOf(t);
  sample.git('update-ref', '-d', 'HEAD');
  sample.git('rm', '-r', '--quiet', '--cached', '.');
  execFileSync('rm', ['-rf', 'src', 'test', 'docs', 'bench', 'package.json', 'package-lock.json'], {
    cwd: sample.root,
  });
  const bytes = Buffer.from(
    "--- /dev/null\n+++ b/test/a.test.js\n@@ -0,0 +1,2 @@\n+import test from 'node:test';\n+test('one', (t) => t.assert.ok(true));\n",
  );
  const view = await sample.run({ source: { kind: 'patch', bytes } });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-list', '--count', 'main'), '1');
  t.equal(sample.git('status', '--porcelain'), '');
});

t.test('a run refuses a bare repository and a directory that is no repository', async (t) => {
  const sample = sampleOf(t);
  const bare = join(sample.home, 'bare.git');
  sample.git('clone', '--quiet', '--bare', '.', bare);
  await refusal(t, sample, 'BARE_REPOSITORY', () => sample.run({ source, repositoryPath: bare }));
  await refusal(t, sample, 'NOT_A_REPOSITORY', () => sample.run({ source, repositoryPath: sample.home }));
});

long('on a detached HEAD the sealed commit goes to its own branch', async (t) => {
  const sample = sampleOf(t);
  const base = sample.git('rev-parse', 'HEAD');
  sample.git('checkout', '--quiet', '--detach');
  const view = await sample.run({ source }, { metadata: { target: { baseRef: base } } });
  t.equal(view.targetRef, `refs/heads/writ/${view.runId}`);
  t.equal(sample.git('rev-parse', view.targetRef), view.decision?.commitSha);
  t.equal(sample.git('rev-parse', 'HEAD'), base);
});

long('a run seals a range as one commit on the named branch', async (t) => {
  const sample = sampleOf(t);
  sample.git('checkout', '--quiet', '-b', 'fix');
  sample.git('apply', '--index', join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
  sample.git('commit', '--quiet', '-m', 'One');
  sample.git('checkout', '--quiet', 'main');
  const view = await sample.run({ source: { kind: 'range', range: 'main..fix' }, onto: 'main' });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-parse', 'main^{tree}'), sample.git('rev-parse', 'fix^{tree}'));
  t.equal(sample.git('rev-list', '--count', 'main'), '2');
  const kept = (path: string) => JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:${path}`));
  t.equal(
    kept('gate-report.json').authorship.tip,
    sample.git('rev-parse', 'fix'),
    'who is asked for its people',
  );
  const { payload } = kept('provenance.sigstore.json').dsseEnvelope;
  const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString('utf8'));
  t.match(
    predicate.runDetails.byproducts.find(({ name }: { name: string }) => name === 'gate-report.json'),
    { mediaType: 'application/json' },
  );
});

long('a run refuses the id of an earlier intent with other metadata', async (t) => {
  const sample = sampleOf(t);
  const failing = { id: 'never', kind: 'command', command: 'false', required: true };
  const first = await sample.run(
    { source },
    { acceptance: { verificationPlan: { integrationChecks: [failing] } } },
  );
  t.equal(first.decision?.type, 'abandon');
  const fault = await refusal(t, sample, 'INTENTSPEC_INVALID', () =>
    sample.run({ source }, { metadata: { createdBy: { type: 'user', id: 'another' } } }),
  );
  t.match(fault?.detail, { issues: [{ code: 'SEMANTIC_METADATA_IMMUTABLE', path: '/metadata' }] });
  const again = await sample.run({ source }, { intent: { summary: 'Prices are exact, again' } });
  t.equal(again.decision?.type, 'commit', 'other fields may change');
  await refusal(t, sample, 'LIFECYCLE_NOT_ACTIVE', () => sample.run({ source }));
});

function answerNothing(act: () => void): [] {
  act();
  return [];
}

/** A plugin that acts once, at one point of a run. */
function at(point: 'patch' | 'tool' | 'stage' | 'decision' | 'statement', act: () => void): LoadedPlugin {
  return definePlugin({
    name: 'at-a-point',
    api: 1,
    setup({ hooks }) {
      const once = (): void => act();
      if (point === 'patch') hooks.patch.judge.tap(() => answerNothing(once));
      if (point === 'tool') hooks.tool.guard.tap(() => void once());
      if (point === 'stage') hooks.stage.settled.tap(() => once());
      if (point === 'decision') hooks.decision.guard.tap(() => void once());
      if (point === 'statement') hooks.statement.fill.tap(() => answerNothing(once));
      return undefined;
    },
  });
}

const points = { patch: 'patch', tool: 'tool', stage: 'stage', decision: 'decision', statement: 'statement' };
for (const [point] of casesOf(points, ['decision'])) {
  t.test(`an interrupt at ${point} moves no ref and leaves the run readable`, async (t) => {
    const sample = sampleOf(t);
    const controller = new AbortController();
    const plugin = at(point, () => controller.abort(new WritError('RUN_INTERRUPTED')));
    await refusal(t, sample, 'RUN_INTERRUPTED', () =>
      sample.run({ source, signal: controller.signal }, {}, [plugin]),
    );
    const repository = await openRepository(sample.root);
    const [run] = await listRuns(builtInStores, repository, systemClock);
    t.equal(run?.state, 'interrupted');
    const found = await findRun(builtInStores, repository, systemClock, run?.runId.slice(0, 13) ?? '');
    t.equal((await readRun(repository, found.store, found.runId)).state, 'interrupted');
  });
}

t.test('an interrupted worker leaves the run interrupted, whatever the worker returns', async (t) => {
  const sample = sampleOf(t);
  const controller = new AbortController();
  const worker = {
    name: 'stopped',
    usesModel: false,
    work: async () => {
      controller.abort(new WritError('RUN_INTERRUPTED'));
      return { kind: 'nothing', reason: 'stopped', usage: { costUnits: 0 } } as const;
    },
  };
  await refusal(t, sample, 'RUN_INTERRUPTED', () => sample.run({ worker, signal: controller.signal }));
  const [run] = await listRuns(builtInStores, await openRepository(sample.root), systemClock);
  t.equal(run?.state, 'interrupted');
});

long(
  'a run whose target moves meanwhile rolls back with a revocation and leaves the branch alone',
  async (t) => {
    const sample = sampleOf(t);
    const moved = sample.git('commit-tree', '-p', 'HEAD', '-m', 'Meanwhile', 'HEAD^{tree}');
    const view = await sample.run({ source }, {}, [
      at('statement', () => void sample.git('update-ref', 'refs/heads/main', moved)),
    ]);
    t.equal(view.decision?.type, 'rollback');
    t.match(view.decision?.rationale, /moved/);
    t.equal(sample.git('rev-parse', 'main'), moved);
    t.match(sample.git('ls-tree', '--name-only', `refs/ai/runs/${view.runId}`), /revocation\.sigstore\.json/);
  },
);

for (const rollback of [true, false]) {
  t.test(
    `a failing log ${rollback ? 'rolls back' : 'is reported and the swap happens'} as the spec says`,
    async (t) => {
      const sample = sampleOf(t);
      const base = sample.git('rev-parse', 'main');
      const breakLog = at('statement', () => {
        throw new Error('no entropy today');
      });
      const view = await sample.run(
        { source },
        { objmodel: { decisionPolicy: { rollbackOnProvenanceFail: rollback } } },
        [breakLog],
      );
      t.equal(view.decision?.type, rollback ? 'rollback' : 'commit');
      t.equal(view.provenance?.bundle, undefined);
      t.match(view.decision?.rationale, 'no entropy today');
      const told = view.notices?.filter((notice) => notice.startsWith('PROVENANCE_MISSING: '));
      t.equal(told?.length ?? 0, rollback ? 0 : 1, 'whoever looks at the run is told');
      const stored = sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:decision.json`);
      t.equal('unproven' in JSON.parse(stored), !rollback);
      t.equal(sample.git('rev-parse', 'main'), rollback ? base : view.decision?.commitSha);
    },
  );
}

long('a guard that refuses, throws or returns an invalid value refuses the decision', async (t) => {
  const answers: readonly (readonly [name: string, tap: () => unknown])[] = [
    ['refuses', () => ({ message: 'not today' })],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['talks nonsense', () => true],
  ];
  for (const [name, tap] of answers) {
    const sample = sampleOf(t);
    const plugin = definePlugin({
      name: 'stern',
      api: 1,
      setup({ hooks }) {
        hooks.decision.guard.tap(tap as () => undefined);
        return undefined;
      },
    });
    const view = await sample.run({ source }, {}, [plugin]);
    t.equal(view.decision?.type, 'abandon', name);
    t.match(view.decision?.rationale, /guard refused/);
  }
});

t.test(
  'a run that cannot write its evidence fails and moves no ref',
  { skip: process.getuid?.() === 0 ? false : 'needs root to mount a tiny file system' },
  async (t) => {
    const sample = sampleOf(t);
    const state = join(sample.root, '.git', 'writ');
    mkdirSync(state);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96k', 'tmpfs', state]);
    try {
      const noisy = {
        id: 'noisy',
        kind: 'command',
        command: `node -e "console.log('x'.repeat(500000))"`,
        required: true,
        artifactsProduced: ['test-log'],
      };
      const spec = {
        intent: { changeType: 'chore' },
        acceptance: { verificationPlan: { fastChecks: [noisy] } },
        provenance: { requireSlsaProvenance: false, transparencyLog: { mode: 'none' } },
      };
      await refusal(t, sample, 'EVIDENCE_WRITE_FAILED', () => sample.run({ source }, spec));
    } finally {
      execFileSync('umount', [state]);
    }
  },
);

t.test(
  "a check that writes outside the workspace through one of the user's symlinks is stopped",
  async (t) => {
    const sample = sampleOf(t);
    symlinkSync('/etc', join(sample.root, 'src', 'etc'));
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'A link');
    const check = {
      id: 'escape',
      kind: 'command',
      command: 'touch src/etc/writ-escape',
      required: true,
      artifactsProduced: ['test-log'],
    };
    const view = await sample.run({ source }, { acceptance: { verificationPlan: { fastChecks: [check] } } });
    t.equal(view.decision?.type, 'abandon');
    t.throws(() => readFileSync('/etc/writ-escape'));
  },
);

long('two runs at once on one branch end in one commit and one rollback', async (t) => {
  const sample = sampleOf(t);
  await using engine = await sample.engine();
  const request = {
    repositoryPath: sample.root,
    specBytes: sampleSpec(),
    source,
    sandbox: 'auto',
    schedulerVersion: '0',
    clock: systemClock,
    signal: new AbortController().signal,
  };
  const views = await Promise.all([runIntent(engine, request), runIntent(engine, request)]);
  const why = views.map(({ decision }) => decision?.rationale).join('\n');
  t.strictSame(views.map((view) => view.decision?.type).sort(), ['commit', 'rollback'], why);
  t.equal(sample.git('rev-list', '--count', 'main'), '2');
  t.equal(sample.git('status', '--porcelain'), '');
  t.equal(sample.git('fsck', '--no-dangling', '--strict'), '');
});

long('a run is listed as running at work and as decided once it has ended', async (t) => {
  const sample = sampleOf(t);
  const repository = await openRepository(sample.root);
  const states: string[] = [];
  const look = async (): Promise<void> =>
    void states.push((await listRuns(builtInStores, repository, systemClock))[0]?.state ?? 'none');
  const plugin = definePlugin({
    name: 'looker',
    api: 1,
    setup({ hooks }) {
      hooks.stage.settled.tap(({ stage }) => (stage.stage === 'fast' ? look() : undefined));
      return undefined;
    },
  });
  await sample.run({ source }, {}, [plugin]);
  await look();
  t.strictSame(states, ['running', 'decided']);
});

long('the index and files follow the commit although stat data are stale', async (t) => {
  const sample = sampleOf(t);
  utimesSync(join(sample.root, 'src', 'price.js'), new Date(1e12), new Date(1e12));
  const view = await sample.run({ source });
  t.equal(view.decision?.type, 'commit');
  t.equal(sample.git('status', '--porcelain'), '');
  t.equal(view.notices, undefined);
});

long('a run reports an index that cannot follow and names the command that repairs it', async (t) => {
  const sample = sampleOf(t);
  const lock = at('statement', () => writeFileSync(join(sample.root, '.git', 'index.lock'), ''));
  const view = await sample.run({ source }, {}, [lock]);
  t.equal(view.decision?.type, 'commit');
  t.match(view.notices?.[0], /`git status` shows the paths that differ, `git restore/);
});

long('a run keeps a file that is edited meanwhile and rolls the sealed change back', async (t) => {
  const sample = sampleOf(t);
  const base = sample.git('rev-parse', 'main');
  const edit = at('stage', () => writeFileSync(join(sample.root, 'src', 'price.js'), 'mine\n'));
  const view = await sample.run({ source }, {}, [edit]);
  t.equal(view.decision?.type, 'rollback');
  t.match(view.decision?.rationale, /src\/price\.js/);
  t.equal(sample.git('rev-parse', 'main'), base);
  t.equal(readFileSync(join(sample.root, 'src', 'price.js'), 'utf8'), 'mine\n');
  t.match(sample.git('ls-tree', '--name-only', `refs/ai/runs/${view.runId}`), /revocation\.sigstore\.json/);
});

long('a damaged journal hides neither its own decided run nor other runs', async (t) => {
  const sample = sampleOf(t);
  const view = await sample.run({ source });
  const repository = await openRepository(sample.root);
  const { store, runId } = await findRun(builtInStores, repository, systemClock, view.runId);
  const journal = join(sample.root, '.git', 'writ', 'runs', view.runId, 'journal.jsonl');
  const whole = readFileSync(journal, 'utf8');
  writeFileSync(journal, 'garbage\n');
  t.equal((await readRun(repository, store, runId)).decision?.type, 'commit');
  const other = join(sample.root, '.git', 'writ', 'runs', '01a1fbe9-0c5a-7ffe-8e97-1403382fd008');
  mkdirSync(other);
  writeFileSync(join(other, 'journal.jsonl'), 'garbage\n');
  t.strictSame((await listRuns(builtInStores, repository, systemClock)).map(({ state }) => state).sort(), [
    'decided',
    'interrupted',
  ]);

  const lines = whole.split('\n');
  writeFileSync(
    journal,
    `${lines
      .slice(
        0,
        lines.findIndex((line) => line.includes('"step":"candidate-1/seal/swap"')),
      )
      .join('\n')}\n`,
  );
  const unswapped = await readRun(repository, store, runId);
  t.equal(unswapped.state, 'interrupted', 'sealed, and killed before the branch was moved');
  t.match(unswapped.notices?.[0], /before the branch was moved/);
});

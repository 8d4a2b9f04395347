import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openRun } from '../../api/run/open-run.ts';
import { parseBundle } from '../../attest/bundle/bundle.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { Attestor } from '../../core/interfaces/sealing.ts';
import { type Replay, replayRun } from '../../engine/decide/replay-run.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { casesOf, long } from '../rooms/long.ts';
import { sampleWithPeople, sign } from './people.ts';
import { fixtures, type Json, makeSample, type Sample, sampleSpec } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

/** An engine whose attestor does something else in places. */
function withAttestor(engine: WritEngine, change: (attestor: Attestor) => Partial<Attestor>): WritEngine {
  return { ...engine, attestor: { ...engine.attestor, ...change(engine.attestor) } };
}

async function runWith(
  sample: Sample,
  change: (attestor: Attestor) => Partial<Attestor>,
  spec: Json = {},
  witness = userJournalWitness(sample.env),
): Promise<RunView> {
  await using engine = await sample.engine();
  return await runIntent(withAttestor(engine, change), {
    repositoryPath: sample.root,
    specBytes: sampleSpec(spec),
    sandbox: 'auto',
    schedulerVersion: '0.0.0-test',
    witness,
    clock: systemClock,
    signal: new AbortController().signal,
    source: { kind: 'patch', bytes: fix },
  });
}

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

function broken(): never {
  throw new Error('out of order');
}

/** Files of the run's record. */
function recorded(sample: Sample, view: RunView): readonly string[] {
  return sample.git('ls-tree', '-r', '--name-only', `refs/ai/runs/${view.runId}`).split('\n');
}

/** What the record's own inputs lead to. */
function replayed(sample: Sample, view: RunView): Replay {
  const show = (path: string) => sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:${path}`);
  return replayRun(
    new Map(
      recorded(sample, view)
        .filter((path) => path.endsWith('.json'))
        .map((path) => [
          path,
          Buffer.from(`${show(path)}${/^decision-(?:input|record)/.test(path) ? '\n' : ''}`),
        ]),
    ),
  );
}

async function logged(sample: Sample): Promise<number> {
  return openUserLedger(join(sample.root, '.git'), sample.env, systemClock).size();
}

const faults: Readonly<
  Record<
    string,
    {
      readonly change: (attestor: Attestor) => Partial<Attestor>;
      readonly entries: number;
      readonly revoked: boolean;
    }
  >
> = {
  'statements about what was found cannot be signed': {
    change: () => ({ signFindings: broken }),
    entries: 0,
    revoked: false,
  },
  'the provenance cannot be signed': { change: () => ({ sign: broken }), entries: 0, revoked: false },
  'the log takes nothing': { change: () => ({ log: broken }), entries: 0, revoked: false },
  'the log takes the provenance and does not answer': {
    change: (attestor) => {
      let asked = 0;
      return {
        log: async (...given) => {
          const answer = await attestor.log(...given);
          asked += 1;
          return asked === 1 ? broken() : answer;
        },
      };
    },
    entries: 2,
    revoked: true,
  },
  'the manifest cannot be signed': { change: () => ({ signSummary: broken }), entries: 2, revoked: true },
  'what was sealed does not verify': {
    change: () => ({ verify: async () => ['manifest failed mismatch'] }),
    entries: 2,
    revoked: true,
  },
  'a seal lies about a file': {
    change: (attestor) => ({
      signSummary: async (request, files, parties) =>
        attestor.signSummary(
          request,
          new Map([...files].filter(([path]) => path !== 'decision.json')),
          parties,
        ),
    }),
    entries: 2,
    revoked: true,
  },
};

for (const [what, { change, entries, revoked }] of casesOf(faults, [
  'the log takes the provenance and does not answer',
  'a seal lies about a file',
])) {
  t.test(`a run rolls back and changes nothing of the user's when ${what}`, async (t) => {
    const sample = sampleOf(t);
    const before = sample.state();
    const view = await runWith(sample, change);
    t.equal(view.decision?.type, 'rollback', view.decision?.rationale ?? '');
    t.equal(sample.state(), before, 'refs, HEAD, index and files, bit for bit');
    t.equal(await logged(sample), entries);
    const files = recorded(sample, view);
    t.equal(files.includes('revocation.sigstore.json'), revoked);
    for (const seal of [
      'provenance.sigstore.json',
      'evidence-manifest.sigstore.json',
      'statements/vsa.sigstore.json',
    ])
      t.notOk(files.includes(seal), `no ${seal} is left for anybody to believe`);
    const decision = JSON.parse(sample.git('show', `refs/ai/runs/${view.runId}:decision.json`));
    t.equal(decision.type, 'rollback');
    t.match(replayed(sample, view), { equal: true, decision: { type: 'rollback', next: 'stop' } });
    if (!revoked) return;
    const bundle = sample.git('show', `refs/ai/runs/${view.runId}:revocation.sigstore.json`);
    const { envelope } = parseBundle(Buffer.from(bundle));
    const statement = JSON.parse(envelope.payload.toString());
    t.match(statement, {
      predicateType: 'urn:writ:predicate:revocation:v1',
      predicate: { run_id: view.runId },
    });
  });
}

const tolerated = ['the provenance cannot be signed', 'what was sealed does not verify'];
for (const [what, { change }] of casesOf(
  Object.fromEntries(Object.entries(faults).filter(([what]) => tolerated.includes(what))),
  ['the provenance cannot be signed'],
)) {
  t.test(`a run commits without provenance, as its spec allows, when ${what}`, async (t) => {
    const sample = sampleOf(t);
    const view = await runWith(sample, change, {
      objmodel: { decisionPolicy: { rollbackOnProvenanceFail: false } },
    });
    t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
    t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
    t.equal(view.provenance?.bundle, undefined);
    t.notOk(recorded(sample, view).includes('evidence-manifest.sigstore.json'));
    t.match(replayed(sample, view), {
      equal: true,
      decision: { type: 'commit', next: 'swap', reasons: ['provenance failed'] },
    });
  });
}

long('a log that refuses the revocation too does not stop the rollback', async (t) => {
  const sample = sampleOf(t);
  const before = sample.state();
  const view = await runWith(sample, () => ({ verify: async () => ['x'], signRevocation: broken }));
  t.equal(view.decision?.type, 'rollback');
  t.match(view.decision?.rationale, /the log could not be informed that the change was not accepted/);
  t.equal(sample.state(), before);
});

long('a disk that is full while a run is sealed decides nothing, and the run goes on later', async (t) => {
  const sample = sampleOf(t);
  const full = { verify: () => Promise.reject(new WritError('EVIDENCE_WRITE_FAILED')) };
  await t.rejects(
    runWith(sample, () => full),
    { code: 'EVIDENCE_WRITE_FAILED' },
  );
  const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
  const view = await sample.resume(runId, { witness: userJournalWitness(sample.env) });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
});

/** A witness whose user's disk is full from the first line on that speaks of a step. */
function fullAt(step: string, witness: JournalWitness): JournalWitness {
  return {
    ...witness,
    async open(runId) {
      const journal = await witness.open(runId);
      return {
        reached: journal.reached,
        vouched: (line, mac) => journal.vouched(line, mac),
        vouch: (line) => (line.includes(step) ? broken() : journal.vouch(line)),
        reach: (to) => journal.reach(to),
        forget: () => journal.forget(),
        [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
      };
    },
  };
}

long('a commit that is refuted later keeps its record and gains a rollback record', async (t) => {
  const sample = sampleOf(t);
  const base = sample.git('rev-parse', 'main');
  const witness = fullAt('seal/swap', userJournalWitness(sample.env));
  await t.rejects(runWith(sample, () => ({}), {}, witness));
  const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
  const record = sample.git('rev-parse', `refs/ai/runs/${runId}:decision.json`);
  await using engine = await sample.engine();
  const view = await resumeRun(
    withAttestor(engine, () => ({ verify: async () => ['manifest failed mismatch'] })),
    {
      repositoryPath: sample.root,
      runId,
      schedulerVersion: '0.0.0-test',
      witness: userJournalWitness(sample.env),
      clock: systemClock,
      signal: new AbortController().signal,
    },
  );
  t.equal(view.decision?.type, 'rollback', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-parse', 'main'), base);
  t.equal(sample.git('rev-parse', `refs/ai/runs/${runId}:decision.json`), record);
  const files = recorded(sample, view);
  for (const path of ['rollback.json', 'revocation.sigstore.json']) t.ok(files.includes(path), path);
});

t.test('a clock that went back is a fault of the machine, and no run ends before its start', async (t) => {
  const sample = sampleOf(t);
  await t.rejects(runWith(sample, () => ({}), {}, fullAt('seal/facts', userJournalWitness(sample.env))));
  const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
  const startedAtMs = uuidTimeMs(runId) ?? 0;
  const resumed = (ms: number) =>
    sample.resume(runId, {
      witness: userJournalWitness(sample.env),
      clock: { ...systemClock, now: () => startedAtMs + ms },
    });
  await t.rejects(resumed(-600_000), {
    code: 'ENVIRONMENT_BROKEN',
    message: /the clock of this machine says/,
    hints: [new RegExp(`writ resume ${runId}`), new RegExp(`writ cancel ${runId}`)],
  });
  const view = await resumed(-60_000);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const { payload } = JSON.parse(
    sample.git('show', `refs/ai/runs/${runId}:provenance.sigstore.json`),
  ).dsseEnvelope;
  const { metadata } = JSON.parse(Buffer.from(payload, 'base64').toString()).predicate.runDetails;
  t.equal(metadata.finishedOn, metadata.startedOn);
});

long('a run that was killed while it sealed ends, also if its target moved meanwhile', async (t) => {
  for (const [step] of casesOf({ 'record/run': undefined, 'seal/swap': undefined }, ['seal/swap'])) {
    const sample = sampleOf(t);
    await t.rejects(
      runWith(sample, () => ({}), {}, fullAt(step, userJournalWitness(sample.env))),
      step,
    );
    const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
    sample.git('commit', '--quiet', '--allow-empty', '-m', 'Of somebody else');
    const tip = sample.git('rev-parse', 'main');
    const view = await sample.resume(runId, { witness: userJournalWitness(sample.env) });
    t.match(view.decision, { type: 'rollback', rationale: /was moved by somebody else/ }, step);
    t.equal(sample.git('rev-parse', 'main'), tip);
    t.equal(sample.git('status', '--porcelain'), '');
  }
});

long('git carries the ledger when the base configures a mirror', async (t) => {
  const sample = sampleOf(t);
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'config.toml'), '[log]\nmirror = "git"\n');
  sample.git('add', '--force', '.writ');
  sample.git('commit', '--quiet', '-m', 'Mirror the ledger');
  const view = await runWith(sample, () => ({}));
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const [ref = ''] = sample.git('for-each-ref', '--format=%(refname)', 'refs/ai/ledger').split('\n');
  t.equal(
    `${sample.git('show', `${ref}:checkpoint`)}\n`,
    readFileSync(join(sample.root, '.git/writ/ledger/checkpoint'), 'utf8'),
  );
});

long('an index that cannot follow undoes neither the moved branch nor the sealed evidence', async (t) => {
  const sample = sampleOf(t);
  const lock = join(sample.root, '.git', 'index.lock');
  const index = readFileSync(join(sample.root, '.git', 'index'));
  const view = await runWith(sample, (attestor) => ({
    verify: async (...given) => {
      writeFileSync(lock, 'somebody else');
      return attestor.verify(...given);
    },
  }));
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
  t.equal(readFileSync(lock, 'utf8'), 'somebody else', 'the lock of another is left alone');
  t.same(readFileSync(join(sample.root, '.git', 'index')), index);
  t.ok(recorded(sample, view).includes('evidence-manifest.sigstore.json'));
});

t.test('a run that cannot be recorded keeps its claim, and lands when it is resumed', async (t) => {
  const sample = sampleOf(t);
  const before = sample.state();
  const runOf = () => readdirSync(join(sample.root, '.git', 'writ', 'runs')).at(0) ?? '';
  const run = runWith(sample, () => ({
    verify: async () => {
      // Git keeps no ref beside refs below it: that of the run can no longer be written.
      sample.git('update-ref', `refs/ai/runs/${runOf()}/in-the-way`, 'HEAD');
      return [];
    },
  }));
  await t.rejects(run, Error);
  t.equal(await logged(sample), 1, 'the claim, and no revocation');
  t.equal(sample.state(), before);
  sample.git('update-ref', '-d', `refs/ai/runs/${runOf()}/in-the-way`);
  const view = await sample.resume(runOf(), { witness: userJournalWitness(sample.env) });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(await logged(sample), 1);
  t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
});

t.test('a run that was stopped before the working tree followed is listed as interrupted', async (t) => {
  const sample = sampleOf(t);
  const witness = fullAt('seal/follow', userJournalWitness(sample.env));
  await t.rejects(runWith(sample, () => ({}), {}, witness));
  const listed = async () => listRuns(builtInStores, await openRepository(sample.root), systemClock);
  const [run] = await listed();
  t.match(run, { state: 'interrupted', decision: 'commit' });
  const shown = () => openRun({ stores: builtInStores, cwd: sample.root });
  t.match((await shown()).view.notices, [
    'the run was stopped before its last step: `writ resume` finishes it',
  ]);
  t.not(sample.git('status', '--porcelain'), '', 'the branch has moved, and the files have not');
  await sample.resume(run?.runId ?? '', { witness: userJournalWitness(sample.env) });
  t.match(await listed(), [{ state: 'decided' }]);
  t.equal((await shown()).view.notices, undefined);
  t.equal(sample.git('status', '--porcelain'), '');
});

long('a rejection takes back a claim whose run could not be recorded', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const needed = { risk: { humanInLoop: { required: true, minApprovers: 1 } } };
  const { runId } = await sample.run({ source: { kind: 'patch', bytes: fix } }, needed);
  await sign(sample, runId, key('ann@sample.example'), 'ann@sample.example');
  const witness = fullAt('record/run', userJournalWitness(sample.env));
  await t.rejects(sample.resume(runId, { witness }));
  t.equal(await logged(sample), 1, 'the claim');
  await sign(sample, runId, key('ben@sample.example'), 'ben@sample.example', 'reject');
  const done = await sample.resume(runId, { witness: userJournalWitness(sample.env) });
  t.equal(done.decision?.type, 'rollback', String(done.decision?.rationale));
  t.equal(await logged(sample), 2, 'and that it is void');
});

t.test('what was revoked never lands', async (t) => {
  const sample = sampleOf(t);
  const base = sample.git('rev-parse', 'main');
  const stopsAt = (step: string) => fullAt(step, userJournalWitness(sample.env));
  await t.rejects(runWith(sample, () => ({}), {}, stopsAt('record/run')));
  const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
  {
    await using engine = await sample.engine();
    // This process refutes the claim, and ends after the revocation is logged and before that is recorded.
    const refuting = withAttestor(engine, () => ({ verify: async () => ['manifest failed mismatch'] }));
    const resumed = resumeRun(refuting, {
      repositoryPath: sample.root,
      runId,
      schedulerVersion: '0.0.0-test',
      witness: stopsAt('seal/rolled-back'),
      clock: systemClock,
      signal: new AbortController().signal,
    });
    await t.rejects(resumed);
  }
  t.equal(await logged(sample), 2);
  const view = await sample.resume(runId, { witness: userJournalWitness(sample.env) });
  t.equal(view.decision?.type, 'rollback', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-parse', 'main'), base);
});

long('index and files follow a branch that the run has moved already', async (t) => {
  const sample = sampleOf(t);
  const view = await runWith(sample, (attestor) => ({
    sign: async (request, parties) => {
      // What a kill behind the swap leaves: the branch at the commit, and files of the one before.
      sample.git('update-ref', 'refs/heads/main', request.commit);
      t.not(sample.git('status', '--porcelain'), '');
      return attestor.sign(request, parties);
    },
  }));
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
  t.equal(sample.git('status', '--porcelain'), '', 'index and files followed');
});

import t, { type Test } from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { Attesting, SealedEvidence } from '../../../core/interfaces/sealing.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';
import { type Json, merge } from '../../engine/sample.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { ann, ben, fix, People, runner, wanting } from './people.ts';
import { runWrit } from './run-writ.ts';

const bare = { kind: 'patch', bytes: fix } as const;

/** Nothing is signed for the change, and the branch moves all the same. */
const unsigned: Json = { provenance: { requireSlsaProvenance: false, transparencyLog: { mode: 'none' } } };
/** A failed proof is no reason to roll back. */
const unproven: Json = { objmodel: { decisionPolicy: { rollbackOnProvenanceFail: false } } };

/** The engine with who attests, or who reads approvals, exchanged. */
function exchanged<Part extends keyof Attesting>(
  engine: WritEngine,
  part: Part,
  change: (found: Attesting[Part]) => Partial<Attesting[Part]>,
): WritEngine {
  return { ...engine, [part]: { ...engine[part], ...change(engine[part]) } };
}

type Doc = Record<string, unknown>;
type Forgery = (files: Map<string, Uint8Array>) => void;

/**
 * What is said of a record that is another than what happened, forged in each of these ways; the true one is sealed
 * then.
 */
function asking(
  engine: WritEngine,
  forgeries: Readonly<Record<string, readonly [Forgery, RegExp]>>,
  told: (what: string, problems: readonly string[]) => void,
): WritEngine {
  const each = async (
    kind: string,
    evidence: SealedEvidence,
    ask: (forged: SealedEvidence) => Promise<readonly string[]>,
  ): Promise<void> => {
    for (const [what, [forge]] of Object.entries(forgeries)) {
      const files = new Map(evidence.files);
      forge(files);
      told(`${what}, ${kind}`, await ask({ ...evidence, files }));
    }
  };
  return exchanged(engine, 'attestor', (attestor) => ({
    async verifyDecided(request, evidence) {
      await each('decided', evidence, (forged) => attestor.verifyDecided(request, forged));
      return attestor.verifyDecided(request, evidence);
    },
    async verify(evidence, parties) {
      await each('sealed', evidence, (forged) => attestor.verify(forged, parties));
      told('no signers', await attestor.verify({ ...evidence, allowedSigners: new Uint8Array() }, parties));
      return attestor.verify(evidence, parties);
    },
  }));
}

/** A reader that believes whatever it is shown. */
function credulous(engine: WritEngine): WritEngine {
  return exchanged(engine, 'approvals', (reader) => ({
    read: async (approvals, ground) =>
      (await reader.read(approvals, ground)).map((one) => ({
        ...one,
        status: 'counts',
        principal: one.principal || one.keyId,
      })),
  }));
}

function json(path: string, change: (document: Doc) => unknown): Forgery {
  return (files) => {
    const document = JSON.parse(Buffer.from(files.get(path) ?? '{}').toString('utf8')) as Doc;
    files.set(path, Buffer.from(`${canonicalize(change(document))}\n`));
  };
}

function requireStopped(t: Test, { sample }: People, base: string, view: RunView, why: RegExp): void {
  t.equal(view.decision?.type, 'rollback', String(view.decision?.rationale));
  t.match(view.decision?.rationale, why);
  t.equal(sample.git('rev-parse', 'main'), base);
  t.equal(sample.git('status', '--porcelain'), '');
}

const anonymous = (report: Doc): unknown => ({
  ...report,
  authorship: { authors: ['Nobody <nobody@sample.example>'], committers: [] },
});

const forgeries: Readonly<Record<string, readonly [Forgery, RegExp]>> = {
  'the decision input': [
    json('decision-input.json', (input) => ({
      ...input,
      human: { ...(input.human as object), approved: 3 },
    })),
    /replay failed replay-mismatch/,
  ],
  'the gate report': [
    json('gate-report.json', (report) => ({ ...report, findings: [], stages: [] })),
    /replay failed|approvals failed/,
  ],
  'the authors in the gate report': [
    json('gate-report.json', anonymous),
    /approvals failed policy-deny.*author/,
  ],
  'the report that people were shown': [
    json('approvals/gate-report.json', anonymous),
    /approvals failed policy-deny.*author/,
  ],
  'both of them': [
    (files) => {
      json('gate-report.json', anonymous)(files);
      json('approvals/gate-report.json', anonymous)(files);
    },
    /approvals failed policy-deny/,
  ],
  'an approval': [
    (files) => files.set('approvals/0002.json', Buffer.from('{}')),
    /approvals failed policy-deny/,
  ],
  'one approval twice': [
    (files) => files.set('approvals/0002.json', files.get('approvals/0001.json') ?? Buffer.alloc(0)),
    /approvals failed policy-deny/,
  ],
  'the contract': [
    json('spec.json', (spec) =>
      merge(spec as Json, { risk: { humanInLoop: { required: false, minApprovers: 0 } } }),
    ),
    /spec failed mismatch/,
  ],
};

long('a forged record is refused before the branch moves', async (t) => {
  const people = new People(t);
  const { runId } = await people.sample.run({ source: bare }, wanting(2));
  await people.approve(runId, ann);
  await people.approve(runId, ben);
  const told = new Map<string, readonly string[]>();
  const done = await people.resume(runId, [], (engine) =>
    asking(engine, forgeries, (what, problems) => void told.set(what, problems)),
  );
  t.equal(done.decision?.type, 'commit', 'what is true is sealed');
  t.match(
    told.get('no signers')?.join(' '),
    /approvals unverified untrusted-signer/,
    'judged by who may sign',
  );
  for (const [what, [, why]] of Object.entries(forgeries)) {
    t.match(told.get(`${what}, decided`)?.join(' '), why, what);
    t.not(told.get(`${what}, sealed`)?.length ?? 0, 0, `${what}, in the whole of what is sealed`);
  }
});

for (const [kind, more] of casesOf<string, Json>({ signed: {}, unsigned, unproven }, ['unsigned'])) {
  t.test(`approvals that were wrongly counted stop the seal: ${kind}`, async (t) => {
    const people = new People(t);
    const base = people.sample.git('rev-parse', 'main');
    const { runId } = await people.sample.run({ source: bare }, merge(wanting(2), more));
    await people.approve(runId, ann);
    await people.approve(runId, runner);
    const view = await people.resume(runId, [], credulous);
    requireStopped(t, people, base, view, /approvals failed policy-deny.*author/);
  });
}

long('an approval of another tree that was counted stops the seal', async (t) => {
  const people = new People(t);
  const base = people.sample.git('rev-parse', 'main');
  const { runId } = await people.sample.run({ source: bare }, wanting(2));
  await people.approve(runId, ann);
  await people.approve(runId, ben, { candidateTree: people.sample.git('rev-parse', 'main^{tree}') });
  requireStopped(
    t,
    people,
    base,
    await people.resume(runId, [], credulous),
    /approvals failed.*wrong-subject/,
  );
});

long('the seal verifies approvals that only a policy check requires', async (t) => {
  const people = new People(t);
  const base = people.sample.git('rev-parse', 'main');
  const checks = {
    releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers --min 2', required: true }],
  };
  const { runId } = await people.sample.run({ source: bare }, { acceptance: { verificationPlan: checks } });
  await people.approve(runId, ann);
  await people.approve(runId, runner);
  requireStopped(
    t,
    people,
    base,
    await people.resume(runId, [], credulous),
    /decision failed|approvals failed/,
  );
});

long('an approval counts by its arrival time, for the run and for later verification', async (t) => {
  const people = new People(t);
  const began = Date.now();
  const { runId } = await people.sample.run({ source: bare }, wanting(2));
  // Time enough to be seen, on a busy machine too: a resumption takes no longer than the run did.
  const expires = Date.now() + Math.max(8000, 3 * (Date.now() - began));
  await people.approve(runId, ann, {}, expires);
  t.equal((await people.resume(runId)).state, 'waiting');
  await people.approve(runId, ben);
  await until(() => Date.now() > expires);
  const done = await people.resume(runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const verified = runWrit(people.sample, 'verify', runId, '--allowed-signers', people.signers, '--replay');
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openInProcessApprover } from '../../attest/approval/sign-approval.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { replayRun } from '../../engine/decide/replay-run.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { closeIntent } from '../../engine/intent/close-intent.ts';
import { withLandings } from '../../engine/intent/find-intent.ts';
import { parseWaitingRecord } from '../../engine/record/stored-approvals.ts';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { long } from '../rooms/long.ts';
import { people, sampleWithPeople, sign } from './people.ts';
import { fixtures, type Json, sampleSpec } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: fix } as const;
// Run directly, tap ends a file after 30 seconds; real runs on a busy machine may need more.

const twoPeople = {
  risk: { humanInLoop: { required: true, minApprovers: 2 } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers --min 2', required: true }],
    },
  },
};

t.test('a run waits until two people other than the author have signed', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const base = sample.git('rev-parse', 'main');
  const view = await sample.run({ source }, twoPeople);
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  t.equal(view.decision?.type, 'checkpoint');
  t.equal(sample.git('rev-parse', 'main'), base);
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  await sign(sample, view.runId, key('maintainer@sample.example'), 'maintainer@sample.example');
  const still = await sample.resume(view.runId);
  t.equal(still.state, 'waiting', 'one person twice, and the author');
  await sign(sample, view.runId, key('ben@sample.example'), 'ben@sample.example');
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('rev-parse', 'main'), done.decision?.commitSha);
  t.match(sample.git('ls-tree', '-r', '--name-only', `refs/ai/runs/${view.runId}`), /approvals\/0004\.json/);
  const again = await sample.resume(view.runId);
  t.equal(
    again.decision?.commitSha,
    done.decision?.commitSha,
    'a run that has ended is answered as it stands',
  );
  t.equal(sample.git('rev-list', '--count', 'main'), '3');
});

long('a rejection ends the run, even if an approval follows', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const view = await sample.run({ source }, twoPeople);
  await sign(sample, view.runId, key('ben@sample.example'), 'ben@sample.example');
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example', 'reject');
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'abandon');
});

long('`humanInLoop` makes a run wait without a policy check', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const view = await sample.run({ source }, { risk: { humanInLoop: { required: true, minApprovers: 1 } } });
  t.equal(view.state, 'waiting');
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  t.equal((await sample.resume(view.runId)).decision?.type, 'commit');
});

long('a run waits for as many people as `minApprovers` says', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const view = await sample.run({ source }, { risk: { humanInLoop: { required: true, minApprovers: 2 } } });
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  t.equal((await sample.resume(view.runId)).state, 'waiting', 'one of two');
  await sign(sample, view.runId, key('ben@sample.example'), 'ben@sample.example');
  t.equal((await sample.resume(view.runId)).decision?.type, 'commit', 'two of two');
});

long('a run of an intent that was closed while it waited is not sealed, despite approval', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const base = sample.git('rev-parse', 'main');
  const onePerson = { risk: { humanInLoop: { required: true, minApprovers: 1 } } };
  const view = await sample.run({ source }, onePerson);
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  const repository = await openRepository(sample.root);
  const found = await findRun(builtInStores, repository, systemClock, view.runId);
  const store = withLandings(repository, found.store);
  await using engine = await sample.engine();
  const contract = await readContract(engine, sampleSpec(onePerson));
  const { id: specId } = contract.document.metadata;
  const by = { kind: 'user', id: 'Ada' } as const;
  await closeIntent({ store, specId, contract }, 'no longer needed', { by, nowMs: systemClock.now() });
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'abandon', String(done.decision?.rationale));
  t.match(done.decision?.rationale, /guard refused by `lifecycle`/);
  t.equal(done.state, 'decided');
  t.equal(sample.git('rev-parse', 'main'), base);
  const ref = store.refs.run(view.runId);
  const paths = (await store.objects.list(ref)).map(({ path }) => path);
  t.notOk(paths.includes('provenance.sigstore.json'), 'nothing was attested');
  const files = new Map(await store.objects.readMany(ref, paths));
  t.strictSame(replayRun(files).firstDifference, undefined, 'the record holds why');
});

const mallory = 'mallory@sample.example';

/** The diff that puts Mallory among the signers, and a config where there was none. */
function coup({ sample, key }: ReturnType<typeof sampleWithPeople>): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', mallory, '-f', key(mallory)]);
  const [kind, own] = readFileSync(`${key(mallory)}.pub`, 'utf8').split(' ');
  const state = join(sample.root, '.writ');
  appendFileSync(join(state, 'allowed_signers'), `${mallory} ${kind} ${own}\n`);
  writeFileSync(join(state, 'config.toml'), `[approvals.groups]\nall = ["${mallory}"]\n`);
  sample.git('add', '--all');
  const diff = sample.git('diff', '--cached');
  sample.git('reset', '--quiet', '--hard');
  return `${diff}\n`;
}

const ruling: Json = {
  intent: { changeType: 'chore', inScope: ['.writ/'], objectives: ['the team is larger'] },
};

long('a patch to files that govern writ waits for two signers of the policy commit', async (t) => {
  const place = sampleWithPeople(t);
  const { sample, key } = place;
  const base = sample.git('rev-parse', 'main');
  const view = await sample.run({ source: { kind: 'patch', bytes: Buffer.from(coup(place)) } }, ruling);
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  t.match(view.decision?.rationale, /approved by 0 of 2 people/);
  t.equal(sample.git('rev-parse', 'main'), base);
  const { store } = await findRun(builtInStores, await openRepository(sample.root), systemClock, view.runId);
  const record = (await store.objects.read(store.refs.run(view.runId), 'waiting.json')) ?? new Uint8Array();
  t.equal(parseWaitingRecord(record).needed, 2);
  const [ann = '', ben = '', author = ''] = people;
  await sign(sample, view.runId, key(ann), ann);
  await sign(sample, view.runId, key(author), author);
  await sign(sample, view.runId, key(mallory), mallory);
  t.equal(
    (await sample.resume(view.runId)).state,
    'waiting',
    'one person, the author, and whom the patch makes a signer',
  );
  await sign(sample, view.runId, key(ben), ben);
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.match(sample.git('show', 'main:.writ/allowed_signers'), /mallory/);
});

long('a worker patch to files that govern writ waits for the same signers', async (t) => {
  const place = sampleWithPeople(t);
  const { sample, key } = place;
  const worker = createRecordedWorker(
    [{ task: 1, attempt: 1, patch: coup(place), costUnits: 1 }],
    async () => {},
  );
  const view = await sample.run({ worker }, ruling);
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  for (const person of people.slice(0, 2)) await sign(sample, view.runId, key(person), person);
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
});

/** What the waiting check says of approvals that do not count. */
function uncounted(view: RunView): unknown {
  const checks = view.stages.flatMap((stage) => stage.checks);
  const findings = checks.flatMap((check) => check.findings);
  const { detail } = findings.find((finding) => finding.detail?.waiting === true) ?? {};
  const { uncounted: others = [] } = (detail ?? {}) as { uncounted?: { status: string }[] };
  return others.map(({ status }) => status);
}

const approversOf = (key: (person: string) => string, ...names: readonly string[]) =>
  Promise.all(names.map((name) => openInProcessApprover(key(name))));

long(
  'in-process approvals count if the config at the policy commit allows them, and are marked',
  async (t) => {
    const { sample, key } = sampleWithPeople(t, '[approvals]\nin_process = true\n');
    const [ann = '', ben = '', author = ''] = people;
    const few = await sample.run({ source, approvers: await approversOf(key, ann, ann, author) }, twoPeople);
    t.equal(few.state, 'waiting', String(few.decision?.rationale));
    t.strictSame(uncounted(few), ['duplicate', 'author'], 'every other rule holds for them too');
    const view = await sample.run({ source, approvers: await approversOf(key, ann, ben) }, twoPeople);
    t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
    t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
    const ref = `refs/ai/runs/${view.runId}`;
    t.match(sample.git('ls-tree', '-r', '--name-only', ref), /approvals\/0002\.json/);
    const payloadOf = (path: string) => {
      const bundle = JSON.parse(sample.git('show', `${ref}:statements/${path}.sigstore.json`));
      const payload = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString('utf8');
      return (JSON.parse(payload) as { readonly predicate: Record<string, unknown> }).predicate;
    };
    t.match(payloadOf('decision').approvals, [
      { principal: ann, inProcess: true },
      { principal: ben, inProcess: true },
    ]);
    t.strictSame(payloadOf('vsa').verifiedLevels, ['WRIT_GATES_PASSED'], 'no two persons signed for it');
    t.match(payloadOf('vsa'), { verificationResult: 'PASSED', slsaVersion: '1.2' });
  },
);

long('in-process approvals do not count unless the config at the policy commit allows them', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const [ann = '', ben = ''] = people;
  const base = sample.git('rev-parse', 'main');
  writeFileSync(join(sample.root, '.writ', 'config.toml'), '[approvals]\nin_process = true\n');
  const view = await sample.run({ source, approvers: await approversOf(key, ann, ben) }, twoPeople);
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  t.strictSame(uncounted(view), ['in-process', 'in-process']);
  t.equal(sample.git('rev-parse', 'main'), base);
  for (const person of [ann, ben]) await sign(sample, view.runId, key(person), person);
  const done = await sample.resume(view.runId);
  t.equal(done.decision?.type, 'commit', 'people themselves go on with it');
});

t.test('a change that is only evaluated waits for nobody and asks no approver', async (t) => {
  const config = '[approvals]\nin_process = true\n[policy]\nmode = "advise"\n';
  const { sample, key } = sampleWithPeople(t, config);
  const [ann = '', ben = ''] = people;
  const before = sample.state();
  const view = await sample.run({ source, approvers: await approversOf(key, ann, ben) }, twoPeople);
  t.match(view, { would: { type: 'wait' }, decision: undefined });
  t.equal(sample.state(), before);
});

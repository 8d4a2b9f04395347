import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ChangedSince, changedSince } from '../../api/run/approve-run.ts';
import { evaluateHere } from '../../api/run/open-run.ts';
import { openWaitingRun } from '../../api/run/waiting-run.ts';
import { gitEvidence } from '../../api/verify/git-evidence.ts';
import { verificationRefusal } from '../../api/verify/verification-data.ts';
import { formatBundle } from '../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../attest/encoding/dsse.ts';
import { generateKey, openUserSigningKey, toSigner } from '../../attest/keys/key-signer.ts';
import { noMemory } from '../../attest/log/checkpoint-memory.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { loadAnchors } from '../../attest/verify/anchors.ts';
import { type EvidenceSource, runFiles } from '../../attest/verify/evidence-source.ts';
import type { VerifyReport } from '../../attest/verify/report.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { canonicalize } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { CarryReader } from '../../core/interfaces/approval.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { isLong, leaveOut, long } from '../rooms/long.ts';
import { people, sampleWithPeople, sign } from './people.ts';
import { fixtures, type Json, type Sample } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: fix } as const;
const [ann = '', ben = ''] = people;
const optIn = '[approvals]\ncarry = "equivalent"\n';
const needs = (minApprovers: number): Json => ({ risk: { humanInLoop: { required: true, minApprovers } } });

/** A run that waits, with Ann's approval. */
async function approvedRun(t: Test, config: string | undefined, spec = needs(1)) {
  const { sample, key } = sampleWithPeople(t, config);
  const view = await sample.run({ source }, spec);
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  await sign(sample, view.runId, key(ann), ann);
  return { sample, key, runId: view.runId, old: candidateOf(sample, view.runId) };
}

function candidateOf(sample: Sample, runId: string): { readonly base: string; readonly tree: string } {
  const { subject } = JSON.parse(sample.git('show', `refs/ai/runs/${runId}:waiting.json`));
  return { base: subject.baseCommit, tree: subject.candidateTree };
}

/** Commits a file on the target. */
function moveTarget(sample: Sample, path: string, text: string): string {
  writeFileSync(join(sample.root, path), text);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', `Change ${path}`);
  return sample.git('rev-parse', 'HEAD');
}

async function changesIn({ root }: Sample, runId: string): Promise<readonly ChangedSince[]> {
  const waiting = await openWaitingRun({ cwd: root, stores: builtInStores }, runId);
  return changedSince(waiting, await evaluateHere(waiting));
}

async function verified(
  sample: Sample,
  { runId, decision }: RunView,
  change: (source: EvidenceSource) => EvidenceSource = (one) => one,
  signersIn = sample.root,
): Promise<VerifyReport> {
  const repository = await openRepository(sample.root, { bare: true, onlyReads: true });
  const { store } = await findRun(builtInStores, repository, systemClock, runId);
  const found = await gitEvidence(repository, store, runId, decision?.commitSha ?? '');
  if (!found) throw new Error('no evidence');
  return verifyRun(change(found), await loadAnchors({ keyFiles: [], ledgerKeys: [] }, sample.env), {
    clock: systemClock,
    memory: noMemory,
    runId,
    allowedSigners: readFileSync(join(signersIn, '.writ', 'allowed_signers')),
  });
}

const troubles = ({ checks }: VerifyReport) =>
  checks.filter(({ status }) => status !== 'passed').map(({ id, status, code }) => `${id} ${status} ${code}`);

t.test('an approval counts for the same patch on a moved target, and `verify` recomputes it', async (t) => {
  const { sample, runId, old } = await approvedRun(t, optIn);
  const tip = moveTarget(sample, 'NOTES.md', 'Elsewhere.\n');
  const done = await sample.resume(runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const again = (done.notices ?? []).filter((one) => one.startsWith('evaluated again'));
  t.match(again, [/because the target moved/]);
  const commit = done.decision?.commitSha ?? '';
  t.equal(sample.git('rev-parse', `${commit}^`), tip, 'the sealed commit is on the new tip');
  t.equal(sample.git('rev-parse', 'main'), commit);
  const bundle = JSON.parse(
    sample.git('show', `refs/ai/runs/${runId}:statements/approval-equivalence.sigstore.json`),
  );
  const { predicate } = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString());
  t.match(predicate, {
    runId,
    candidate: { baseCommit: tip, tree: { gitTree: sample.git('rev-parse', `${commit}^{tree}`) } },
    carried: [{ baseCommit: old.base, tree: { gitTree: old.tree }, approvals: [{ digest: {} }] }],
  });
  const report = await verified(sample, done);
  t.strictSame(troubles(report), []);
  t.match(
    report.checks.find(({ id }) => id === 'approvals-carried'),
    { status: 'passed', detail: { from: [old.tree] } },
  );
  t.match(report.checks.find(({ id }) => id === 'approvals')?.detail, { principals: [ann] });

  const found = async (change: (source: EvidenceSource) => EvidenceSource) =>
    troubles(await verified(sample, done, change)).filter((line) => line.startsWith('approvals'));
  const uncounted = 'approvals failed policy-deny';

  await t.test('rejects the approval without the statement', async (t) => {
    t.strictSame(await found((one) => ({ ...one, readRun: without(one, runFiles.equivalence) })), [
      uncounted,
    ]);
  });

  await t.test('rejects a statement that another key signed', async (t) => {
    const other = toSigner(generateKey('ed25519'), true);
    const forged = await resigned(bundle, other, (one) => one);
    t.strictSame(await found(replacing(forged)), [
      'approvals-carried unverified untrusted-signer',
      uncounted,
    ]);
  });

  await t.test('rejects a statement of the own key that the git objects do not bear out', async (t) => {
    const own = await openUserSigningKey(sample.env);
    sample.git('checkout', '--quiet', '--detach', old.base);
    sample.git('apply', '--index', join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
    t.equal(sample.git('write-tree'), old.tree, 'the same patch makes the approved candidate');
    const [changed = ''] = sample.git('diff', '--name-only', 'HEAD').split('\n');
    const text = readFileSync(join(sample.root, changed), 'utf8');
    writeFileSync(join(sample.root, changed), text.replace(/^( +)/m, '$1 '));
    sample.git('add', '--all');
    const indented = sample.git('write-tree');
    sample.git('checkout', '--quiet', '--force', 'main');
    const [first] = predicate.carried;
    const cases: readonly (readonly [string, object, string])[] = [
      ['indentation', { carried: [{ ...first, tree: { gitTree: indented } }] }, 'failed mismatch'],
      ['another patch', { patchset: { digest: { sha256: '1'.repeat(64) } } }, 'failed mismatch'],
      ['another verdict', { verdict: { digest: { sha256: '1'.repeat(64) } } }, 'failed mismatch'],
      ['another spec', { intentspec: { digest: { sha256: '1'.repeat(64) } } }, 'failed mismatch'],
      ['another run', { runId: '01900000-0000-7000-8000-000000000000' }, 'failed wrong-run'],
      ['another base', { candidate: { ...predicate.candidate, baseCommit: old.base } }, 'failed mismatch'],
      ['a later base', { carried: [{ ...first, baseCommit: commit }] }, 'failed policy-deny'],
      ['a missing tree', { carried: [{ ...first, tree: { gitTree: '1'.repeat(40) } }] }, 'missing missing'],
      ['no candidate', { carried: [] }, 'failed malformed'],
      ['an unknown member', { more: 1 }, 'failed malformed'],
    ];
    for (const [name, change, expected] of cases) {
      const statement = await resigned(bundle, own, (one) => ({ ...one, ...change }));
      const [carried] = await found(replacing(statement));
      t.equal(carried, `approvals-carried ${expected}`, name);
    }
  });

  await t.test('rejects the statement if a base does not opt in, or is no ancestor', async (t) => {
    const carryOf = (change: Partial<CarryReader>) => (one: EvidenceSource) =>
      one.carry ? { ...one, carry: { ...one.carry, ...change } } : one;
    const refused = ['approvals-carried failed policy-deny', uncounted];
    for (const base of [old.base, tip])
      t.strictSame(await found(carryOf({ carriesApprovals: async (at) => at !== base })), refused);
    t.strictSame(await found(carryOf({ isAncestor: async () => false })), refused);
    const unknown = ['approvals-carried missing missing', 'approvals missing missing'];
    t.strictSame(await found(({ carry: _, ...one }) => one), unknown);
    t.strictSame(await found(carryOf({ isAncestor: async () => undefined })), unknown);
  });

  if (!isLong) return leaveOut(2);
  await t.test('verifies in a clone that was packed and pruned', async (t) => {
    const clone = join(sample.home, 'clone');
    sample.git('clone', '--quiet', sample.root, clone);
    sample.git('-C', clone, 'fetch', '--quiet', 'origin', '+refs/ai/*:refs/ai/*');
    sample.git('-C', clone, 'gc', '--quiet', '--prune=now');
    t.strictSame(troubles(await verified({ ...sample, root: clone }, done, (one) => one, sample.root)), []);
  });

  await t.test('names the command that fetches the objects which a shallow clone lacks', async (t) => {
    const clone = join(sample.home, 'shallow');
    sample.git('clone', '--quiet', '--depth=1', `file://${sample.root}`, clone);
    sample.git('-C', clone, 'fetch', '--quiet', 'origin', '+refs/ai/*:refs/ai/*');
    const verifiedHere = () => verified({ ...sample, root: clone }, done, (one) => one, sample.root);
    const report = await verifiedHere();
    t.match(troubles(report), ['approvals-carried missing missing', /^approvals missing/]);
    const [hint = ''] = verificationRefusal([{ kind: 'run', target: 'HEAD', report }])?.hints ?? [];
    t.match(hint, '`git fetch --refetch --no-filter` in a partial clone');
    const [command = ''] = /git fetch --unshallow/.exec(hint) ?? [];
    sample.git('-C', clone, ...command.split(' ').slice(1), '--quiet');
    t.strictSame(troubles(await verifiedHere()), []);
  });
});

long('no approval carries over unless both policy commits opt in', async (t) => {
  for (const [before, after] of [
    [undefined, undefined],
    [undefined, optIn],
    [optIn, ''],
    [optIn, '[approvals]\ncarry = "none"\n'],
  ] as const) {
    const { sample, runId } = await approvedRun(t, before);
    const tip =
      after === undefined
        ? moveTarget(sample, 'NOTES.md', 'Elsewhere.\n')
        : moveTarget(sample, '.writ/config.toml', after);
    // A value in the working tree counts for nothing.
    writeFileSync(join(sample.root, '.writ', 'config.toml'), optIn);
    await t.rejects(sample.resume(runId), { code: 'TARGET_MOVED' }, `${before} → ${after}`);
    t.equal(sample.git('rev-parse', 'main'), tip);
  }
});

long('people are asked again if patch, verdict or signers differ on the new base', async (t) => {
  const cases: Readonly<Record<string, (sample: Sample) => string>> = {
    'a file of the change that changed on the target': (sample) => {
      const [path = ''] = sample.git('ls-files', 'src').split('\n');
      const text = readFileSync(join(sample.root, path), 'utf8');
      return moveTarget(sample, path, `${text}\n`);
    },
    'a check that the new policy adds': (sample) =>
      moveTarget(
        sample,
        '.writ/config.toml',
        `${optIn}[[checks.always]]\nstage = "fast"\nid = "more"\nkind = "command"\ncommand = "node --version"\n`,
      ),
    'a signer who was removed': (sample) => {
      const file = join(sample.root, '.writ', 'allowed_signers');
      const lines = readFileSync(file, 'utf8').split('\n').slice(1);
      return moveTarget(sample, '.writ/allowed_signers', lines.join('\n'));
    },
  };
  // A signer who is removed is nobody, so that nothing is said of what changed since.
  const lineAdded = [/^@@/, /^ -/, /^ \+/, /^ {2}}/, /^\+ $/, /^ diff/, /^ index/, /^ ---/];
  const shown: Readonly<Record<string, object>> = {
    'a file of the change that changed on the target': { patch: 'changed', diff: lineAdded, verdict: [] },
    'a check that the new policy adds': {
      patch: 'same',
      diff: [],
      verdict: [/./, /./, /`more` \(fast\) is new/],
    },
  };
  for (const [name, move] of Object.entries(cases)) {
    const { sample, key, runId, old } = await approvedRun(t, optIn);
    const tip = move(sample);
    const again = await sample.resume(runId);
    t.equal(again.state, 'waiting', `${name}: ${again.decision?.rationale}`);
    const now = candidateOf(sample, runId);
    t.equal(now.base, tip);
    t.not(now.tree, old.tree);
    const about = { people: [ann], base_commit: old.base, candidate_tree: old.tree };
    const expected = shown[name];
    t.match(await changesIn(sample, runId), expected === undefined ? [] : [{ ...about, ...expected }], name);
    await sign(sample, runId, key(ben), ben);
    const done = await sample.resume(runId);
    t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
    t.notOk(sample.git('ls-tree', '-r', '--name-only', `refs/ai/runs/${runId}`).includes('equivalence'));
  }
});

long(
  'an approval carries over several moves, and the next person approves the candidate of the last',
  async (t) => {
    const { sample, key, runId } = await approvedRun(t, optIn, needs(2));
    for (const text of ['one\n', 'two\n']) {
      moveTarget(sample, 'NOTES.md', text);
      const view = await sample.resume(runId);
      t.equal(view.state, 'waiting');
      t.match(view.waiting?.people, [{ principal: ann, status: 'counts' }]);
    }
    sample.git('gc', '--quiet', '--prune=now');
    await sign(sample, runId, key(ben), ben);
    const done = await sample.resume(runId);
    t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
    t.strictSame(troubles(await verified(sample, done)), []);
  },
);

long('a rejection of an equivalent candidate ends the run', async (t) => {
  const { sample, key, runId } = await approvedRun(t, optIn, needs(2));
  await sign(sample, runId, key(ben), ben, 'reject');
  moveTarget(sample, 'NOTES.md', 'Elsewhere.\n');
  t.equal((await sample.resume(runId)).decision?.type, 'abandon');
});

long('a run that is killed while it starts on the new tip goes on', async (t) => {
  const { sample, key, runId, old } = await approvedRun(t, optIn, needs(2));
  const tip = moveTarget(sample, 'NOTES.md', 'Elsewhere.\n');
  const killed = new Error('killed');
  const own = userJournalWitness(sample.env);
  /** Fails at the given opening of the journal's witness, or at the first write of what it reached there. */
  const failing = (at: number, isReach = false): JournalWitness => {
    let opened = 0;
    return {
      ...own,
      async open(id) {
        opened += 1;
        if (opened === at && !isReach) throw killed;
        const found = await own.open(id);
        if (opened === at) found.reach = () => Promise.reject(killed);
        return found;
      },
    };
  };
  const killsAt = async (witness: JournalWitness) => t.rejects(sample.resume(runId, { witness }), killed);
  const journal = join(sample.root, '.git', 'writ', 'runs', runId, 'journal.jsonl');
  const content = join(sample.root, '.git', 'writ', 'runs', runId, 'record');
  const before = readFileSync(journal);
  t.ok(existsSync(content));
  await killsAt(failing(2));
  t.same(readFileSync(journal), before);
  t.ok(existsSync(content), 'what the journal rests on is there');
  await killsAt(failing(2, true));
  t.notSame(readFileSync(journal), before, 'it was replaced');
  t.ok(existsSync(content));
  const rest = join(content, 'rest');
  writeFileSync(rest, 'of the earlier journal');
  t.equal((await sample.resume(runId)).state, 'waiting');
  t.notOk(existsSync(rest), 'what the earlier journal rested on is gone');
  await sign(sample, runId, key(ben), ben);
  const done = await sample.resume(runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('rev-parse', `${done.decision?.commitSha}^`), tip);
  t.not(tip, old.base);
  t.strictSame(troubles(await verified(sample, done)), []);
});

long('a run that stopped after a move, before it waited again, can move once more', async (t) => {
  const { sample, runId } = await approvedRun(t, optIn);
  const [path = ''] = sample.git('diff', '--name-only', 'main', candidateOf(sample, runId).tree).split('\n');
  moveTarget(sample, 'NOTES.md', 'Elsewhere.\n');
  const file = join(sample.root, path);
  const before = readFileSync(file);
  writeFileSync(file, Buffer.concat([before, Buffer.from('// mine\n')]));
  await t.rejects(sample.resume(runId), { code: 'WORKTREE_DIRTY' });
  writeFileSync(file, before);
  const tip = moveTarget(sample, 'MORE.md', 'Elsewhere, too.\n');
  const done = await sample.resume(runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  t.equal(sample.git('rev-parse', `${done.decision?.commitSha}^`), tip);
  t.strictSame(troubles(await verified(sample, done)), []);
});

long('a run whose change conflicts with the new tip stays as it was', async (t) => {
  const { sample, runId, old } = await approvedRun(t, optIn);
  const [path = ''] = sample.git('ls-files', 'src').split('\n');
  moveTarget(sample, path, 'throw new Error();\n');
  await t.rejects(sample.resume(runId), { code: 'PATCH_CONFLICT' });
  t.strictSame(candidateOf(sample, runId), old);
  sample.git('reset', '--quiet', '--hard', old.base);
  t.equal((await sample.resume(runId)).decision?.type, 'commit');
});

interface SavedBundle {
  readonly dsseEnvelope: { readonly payload: string };
}

/** The statement with another predicate, signed by `signer`. */
async function resigned(
  { dsseEnvelope }: SavedBundle,
  signer: Signer,
  change: (predicate: object) => object,
): Promise<Buffer> {
  const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString());
  const payload = Buffer.from(canonicalize({ ...statement, predicate: change(statement.predicate) }));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  return Buffer.from(formatBundle({ envelope, proof: undefined }));
}

function without({ readRun }: EvidenceSource, path: string): EvidenceSource['readRun'] {
  return async (one) => (one === path ? undefined : readRun(one));
}

const replacing =
  (bytes: Uint8Array) =>
  (one: EvidenceSource): EvidenceSource => ({
    ...one,
    readRun: async (path) => (path === runFiles.equivalence ? bytes : one.readRun(path)),
  });

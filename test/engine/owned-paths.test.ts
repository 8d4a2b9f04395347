import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gitEvidence } from '../../api/verify/git-evidence.ts';
import { noMemory } from '../../attest/log/checkpoint-memory.ts';
import { loadAnchors } from '../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../attest/verify/evidence-source.ts';
import { verifyRun } from '../../attest/verify/verify-run.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { OwnedPaths } from '../../core/interfaces/approval.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { people, sampleWithPeople, sign } from './people.ts';
import { fixtures, type Sample } from './sample.ts';

/** Changes `src/price.js` and `test/price.test.js`. */
const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: fix } as const;
const [ann = '', ben = '', maintainer = ''] = people;
const team = `[approvals.groups]\n"@org/prices" = ["${ann}", "${maintainer}"]\n`;
/** Nobody has to approve by the risk profile. */
const free = { risk: { humanInLoop: { required: false, minApprovers: 0 } } };

function ownedSample(t: Test, owners: string) {
  const { sample, key } = sampleWithPeople(t, team);
  writeFileSync(join(sample.root, '.writ', 'owners'), owners);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Owners');
  return { sample, approve: (run: string, person: string) => sign(sample, run, key(person), person) };
}

async function approvalsCheck(
  sample: Sample,
  { runId, decision }: RunView,
  options: { readonly signers?: Uint8Array; readonly change?: (one: EvidenceSource) => EvidenceSource } = {},
) {
  const repository = await openRepository(sample.root, { bare: true, onlyReads: true });
  const { store } = await findRun(builtInStores, repository, systemClock, runId);
  const found = await gitEvidence(repository, store, runId, decision?.commitSha ?? '');
  if (!found) throw new Error('no evidence');
  const { change = (one: EvidenceSource) => one, signers } = options;
  const report = await verifyRun(
    change(found),
    await loadAnchors({ keyFiles: [], ledgerKeys: [] }, sample.env),
    {
      clock: systemClock,
      memory: noMemory,
      requireApprovals: true,
      ...(signers ? { allowedSigners: signers } : {}),
    },
  );
  return report.checks.find(({ id }) => id === 'approvals');
}

t.test('a waiting run names no author among those who may approve', async (t) => {
  const { sample } = ownedSample(t, `* ${ben} ${maintainer}\n`);
  const { waiting } = await sample.run({ source }, free);
  t.match(waiting?.owners, [{ owners: [ben], principals: [ben, maintainer] }]);
});

t.test('changed paths wait for an approval by one of their owners', async (t) => {
  const { sample, approve } = ownedSample(t, `* ${ben}\n/test/\n/src/ @org/prices\n`);
  const waiting = await sample.run({ source }, free);
  t.equal(waiting.state, 'waiting');
  t.equal(waiting.decision?.rationale, 'no owner of `/src/` approved');
  const owned = {
    pattern: '/src/',
    owners: ['@org/prices'],
    principals: [ann, maintainer],
    paths: ['src/price.js'],
    count: 1,
  };
  t.match(waiting.waiting, { needed: 1, owners: [{ ...owned, approved: [] }] });

  await approve(waiting.runId, ben);
  const other = await sample.resume(waiting.runId);
  t.equal(other.state, 'waiting', 'the approval of someone who owns none of the paths is not enough');
  await approve(waiting.runId, maintainer);
  const own = await sample.resume(waiting.runId);
  t.equal(own.state, 'waiting', `an owner who made the change does not count: ${own.decision?.rationale}`);
  t.match(own.waiting?.people, [{ status: 'counts' }, { status: 'author' }]);
  await approve(waiting.runId, ann);
  const done = await sample.resume(waiting.runId);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const input = JSON.parse(sample.git('show', `refs/ai/runs/${done.runId}:decision-input.json`));
  t.strictSame(input.owners, [{ ...owned, approved: [ann] }], 'the evidence has it');

  await t.test('`verify` computes it again from the policy commit', async (t) => {
    const signers = readFileSync(join(sample.root, '.writ', 'allowed_signers'));
    t.match(await approvalsCheck(sample, done, { signers }), {
      status: 'passed',
      detail: { principals: [ann, ben], owned: ['/src/'] },
    });
    const demanding = (...principals: string[]) => ({
      signers,
      change: (one: EvidenceSource): EvidenceSource => {
        const owned = { pattern: '/x/', owners: principals, principals, paths: [], count: 1, approved: [] };
        const ownedPaths = async (): Promise<readonly OwnedPaths[]> => [owned];
        return one.carry ? { ...one, carry: { ...one.carry, ownedPaths } } : one;
      },
    });
    t.match(await approvalsCheck(sample, done, demanding('eve@sample.example', ben)), { status: 'passed' });
    const missing = { status: 'failed', code: 'policy-deny' };
    t.match(await approvalsCheck(sample, done, demanding('eve@sample.example')), {
      ...missing,
      detail: { owners: ['/x/: eve@sample.example'], found: [ann, ben] },
    });
    const unsigned = { change: demanding('eve@sample.example').change };
    t.match(
      await approvalsCheck(sample, done, unsigned),
      missing,
      'also by the people that the record claims',
    );

    const withoutRepository = (one: EvidenceSource): EvidenceSource => {
      const { carry: _, readAt: __, ...rest } = one;
      return rest;
    };
    const byBen = Buffer.from(signers.toString('utf8').split('\n')[1] ?? '');
    t.match(
      await approvalsCheck(sample, done, { signers, change: withoutRepository }),
      { status: 'passed', detail: { owned: ['/src/'] } },
      'without the repository, by the record',
    );
    const twoMissing = await approvalsCheck(sample, done, { signers: byBen, change: withoutRepository });
    t.match(twoMissing?.detail, { owners: ['/src/: @org/prices'] });
    t.not(twoMissing?.status, 'passed');
  });
});

t.test('a candidate does not choose the owners of its own paths', async (t) => {
  const { sample, approve } = ownedSample(t, `/.writ/ ${ann}\n/docs/ ${ann}\n`);
  writeFileSync(join(sample.root, '.writ', 'owners'), `/.writ/ ${ben}\n`);
  sample.git('mv', 'docs/notes.md', 'notes.md');
  const bytes = Buffer.from(`${sample.git('diff', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  const moves = { ...free, intent: { changeType: 'refactor', inScope: ['.writ/', 'docs/', 'notes.md'] } };
  const waiting = await sample.run({ source: { kind: 'patch', bytes } }, moves);
  t.equal(waiting.state, 'waiting', JSON.stringify(waiting.findings));
  t.match(waiting.waiting, {
    needed: 2,
    owners: [{ pattern: '/.writ/' }, { pattern: '/docs/', paths: ['docs/notes.md'] }],
  });
  await approve(waiting.runId, ben);
  const other = await sample.resume(waiting.runId);
  t.match(other.waiting?.owners, [{ approved: [] }, { approved: [] }]);
});

t.test('a file of owners that cannot be read is refused before any work', async (t) => {
  const { sample } = ownedSample(t, '/src/ eve@sample.example\n/test/ @org/none\n');
  const before = sample.state();
  await t.rejects(sample.run({ source }, free), {
    code: 'CONFIG_INVALID',
    message: /`.writ\/owners`.*line 1: `eve@sample.example` is unknown.*\(and 1 more\)/,
  });
  t.equal(sample.state(), before);
});

import t from 'tap';
import { policyReasons, toVerdict } from '../../api/run/verdict.ts';
import type { ApprovalVerdict } from '../../core/interfaces/approval.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RunView, WaitsFor } from '../../core/interfaces/run-view.ts';
import type { CheckRecord } from '../../core/interfaces/stage.ts';
import { judge } from '../../gates/rules/require-approvers.ts';
import { abandoned, committed } from '../bin/report/sample-view.ts';

const said = (principal: string, more: Partial<ApprovalVerdict> = {}): ApprovalVerdict => ({
  source: `refs/ai/approvals/r/${principal || 'n'}`,
  digest: '1'.repeat(64),
  decision: 'approve',
  principal,
  keyId: 'SHA256:x',
  signedAt: '2026-06-01T12:00:00Z',
  status: 'counts',
  ...more,
});

/** A run that waits, or that was refused, by what the rule itself answers about these approvals. */
async function heldBack(
  approvals: readonly ApprovalVerdict[],
  {
    args = ['--min', '2'],
    groups = {},
    needed = 2,
  }: { args?: string[]; groups?: object; needed?: number } = {},
): Promise<RunView> {
  const spec = { risk: { humanInLoop: { required: true, minApprovers: 2 } } };
  const findings = (await judge({
    spec,
    args,
    approvals,
    approvalGroups: groups,
  } as never)) as readonly Finding[];
  const isRefused = findings.some(({ severity }) => severity === 'error');
  const status = isRefused ? 'failed' : 'waiting';
  const [release] = committed.stages.slice(-1);
  const [any] = release?.checks ?? [];
  if (!release || !any) throw new Error('the sample has no release check');
  const check: CheckRecord = { ...any, id: 'people', kind: 'policy', status, findings };
  const { decision, ...view } = {
    ...abandoned,
    stages: [{ ...release, status, checks: [check] }],
  } as RunView;
  if (!decision) throw new Error('the sample has no decision');
  return isRefused
    ? { ...view, decision: { ...decision, rationale: 'check `people` failed' } }
    : {
        ...view,
        state: 'waiting',
        decision: { ...decision, type: 'checkpoint', rationale: 'check `people` waiting' },
        waiting: { for: 'approval', needed, people: approvals },
      };
}

t.test(
  'the verdict of a waiting run lists approvals, uncounted approvals and how many are missing',
  async (t) => {
    const view = await heldBack([
      said('ana@x'),
      said('', { status: 'malformed', keyId: '' }),
      said('cleo@x', { status: 'author', detail: '`cleo@x` is an author of the change or runs it' }),
      said('dan@x', { status: 'expired', detail: 'it was good until 2026-01-01' }),
      said('', { status: 'untrusted-signer', decision: 'reject' }),
    ]);
    const { sentence, next } = toVerdict(view);
    t.equal(
      sentence,
      'check `people` waiting: waits for approval: 1 of 2 people approved, 1 is missing; approved by `ana@x`; ' +
        'not counted: `cleo@x` (author: `cleo@x` is an author of the change or runs it), `dan@x` (expired: it was good until 2026-01-01), ' +
        '`refs/ai/approvals/r/n` (malformed), `SHA256:x` (untrusted-signer)',
    );
    t.equal(next[0]?.line, `writ approve ${view.runId}`);
  },
);

t.test('an approval from outside the required group is reported as such', async (t) => {
  const options = { args: ['--group', 'release', '--min', '1'], groups: { release: ['Ana@x', 'dan@x'] } };
  t.match(policyReasons(await heldBack([said('ben@x')], options)), [
    'check `people` waiting: waits for approval: 0 of 1 people of `release` approved, 1 is missing',
    'approved by `ben@x` (not in the group or role that a check asks for)',
  ]);
});

t.test('the verdict of a failed policy check says what refused the change', async (t) => {
  const rejected = await heldBack([
    said('ana@x'),
    said('cleo@x', { decision: 'reject', comment: 'breaks it' }),
  ]);
  t.equal(
    toVerdict(rejected).sentence,
    'check `people` failed: `cleo@x` rejected the change: breaks it (decision: check `people` failed)',
  );
  const unknown = await heldBack([], { args: ['--group', 'ghosts'] });
  t.match(toVerdict(unknown).sentence, /^check `people` failed: expected a group .* found `ghosts`/);
});

t.test(
  'approvals are counted without a policy check, and enough of them lead to `writ resume`',
  async (t) => {
    const view = { ...(await heldBack([])), stages: committed.stages };
    const waiting = (people: WaitsFor['people'], more: Partial<WaitsFor> = {}): RunView => ({
      ...view,
      waiting: { for: 'approval', needed: 2, people, ...more },
    });
    t.strictSame(policyReasons(waiting([])), ['0 of 2 people approved, 2 are missing']);
    const enough = waiting([said('ana@x'), said('ben@x')]);
    t.strictSame(policyReasons(enough), ['2 of 2 people approved', 'approved by `ana@x`, `ben@x`']);
    t.equal(toVerdict(enough).next[0]?.line, `writ resume ${view.runId}`);
    t.match(policyReasons(waiting([{ ...said('ana@x'), status: 'unjudged' }])), [/^1 signed, not verified/]);
    const budget = waiting([], { for: 'budget' });
    t.strictSame(policyReasons(budget), []);
    t.equal(toVerdict(budget).next[0]?.line, `writ resume ${view.runId} --more-cost-units N`);
  },
);

t.test('a long list of approvals is shortened, and a sealed run has no policy reasons', async (t) => {
  const many = Array.from({ length: 1000 }, (_, n) =>
    said(`p${n}@x`, { status: 'expired', detail: 'd'.repeat(5000) }),
  );
  const [, told = ''] = policyReasons(await heldBack(many));
  t.ok(told.length < 2500);
  t.match(told, / and 995 more$/);
  t.strictSame(policyReasons({ ...(await heldBack([])), decision: committed.decision } as RunView), []);
  t.equal(toVerdict(abandoned).sentence, abandoned.decision?.rationale, 'a command that failed has its log');
});

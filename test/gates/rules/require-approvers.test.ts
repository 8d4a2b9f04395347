import t from 'tap';
import type { ApprovalVerdict } from '../../../core/interfaces/approval.ts';
import { policyCheck } from '../../../gates/checks/policy.ts';
import { gateTester } from '../../../testing.ts';
import { checkContext, noPool } from '../checks/check-context.ts';
import { ruleOf } from './stage-case.ts';

const verdict = (principal: string, more: Partial<ApprovalVerdict> = {}): ApprovalVerdict => ({
  source: `refs/ai/approvals/r/${principal}`,
  digest: '1'.repeat(64),
  decision: 'approve',
  principal,
  keyId: 'SHA256:x',
  signedAt: '2026-06-01T12:00:00Z',
  status: 'counts',
  ...more,
});
const [ana, ben] = [verdict('ana@x'), verdict('ben@x')];
const four = { spec: { risk: { humanInLoop: { required: true, minApprovers: 2 } } } };
const waits = (approved: readonly string[], needed: number, more: object = {}) => [
  {
    rule: 'require-approvers',
    severity: 'note' as const,
    detail: { waiting: true, approved, needed, uncounted: [], ...more },
  },
];
const fails = (code: string, detail: object) => [{ severity: 'error' as const, detail: { code, ...detail } }];
const refusedArguments = (...args: string[]) => ({
  name: `the arguments ${args.join(' ')}`,
  args,
  approvals: [ana, ben],
  expect: fails('POLICY_ARGUMENTS', { args }),
});

await gateTester(t, ruleOf('require-approvers'), {
  valid: [
    { name: 'as many as the contract requires', ...four, approvals: [ana, ben], expect: [] },
    { name: 'as many as the check requires', args: ['--min', '1'], ...four, approvals: [ana], expect: [] },
    { name: 'the other way to write it', args: ['--min=2'], approvals: [ana, ben], expect: [] },
    { name: 'no approval was requested yet', ...four, expect: waits([], 2) },
    { name: 'one of two', ...four, approvals: [ana], expect: waits(['ana@x'], 2) },
    {
      name: 'more than the contract requires',
      args: ['--min', '3'],
      ...four,
      approvals: [ana, ben],
      expect: waits(['ana@x', 'ben@x'], 3),
    },
    { name: 'a contract without required approvers still needs one', expect: waits([], 1) },
    { name: 'one person twice', ...four, approvals: [ana, verdict('ANA@x')], expect: waits(['ana@x'], 2) },
    { name: 'no approver by name', approvals: [verdict('')], expect: waits([], 1) },
    {
      name: 'an approval that does not count is reported',
      approvals: [
        verdict('cleo@x', { status: 'author' }),
        verdict('', { status: 'malformed', decision: 'reject' }),
      ],
      expect: waits([], 1, {
        uncounted: [
          { source: 'refs/ai/approvals/r/cleo@x', status: 'author' },
          { source: 'refs/ai/approvals/r/', status: 'malformed' },
        ],
      }),
    },
    {
      name: 'members of a group',
      args: ['--min', '1', '--group', 'release'],
      approvalGroups: { release: ['Ana@x'] },
      approvals: [ben, ana],
      expect: [],
    },
    {
      name: 'people outside the group',
      args: ['--group', 'release'],
      approvalGroups: { release: ['cleo@x'] },
      approvals: [ana, ben],
      expect: waits([], 1, { group: 'release' }),
    },
  ],
  invalid: [
    {
      name: 'a rejection among enough approvals',
      ...four,
      approvals: [
        ana,
        ben,
        verdict('cleo@x', { decision: 'reject', comment: 'breaks the API', role: 'api' }),
      ],
      expect: [
        {
          severity: 'error',
          message: '`cleo@x` rejected the change: breaks the API',
          detail: {
            code: 'APPROVAL_REJECTED',
            principal: 'cleo@x',
            source: 'refs/ai/approvals/r/cleo@x',
            keyId: 'SHA256:x',
            role: 'api',
          },
        },
      ],
    },
    {
      name: 'a rejection from outside the group',
      args: ['--group', 'release'],
      approvalGroups: { release: ['ana@x'] },
      approvals: [ana, verdict('ben@x', { decision: 'reject' })],
      expect: [{ severity: 'error' }],
    },
    {
      name: 'an unknown group',
      args: ['--group', 'constructor'],
      approvalGroups: { release: ['ana@x'] },
      approvals: [ana],
      expect: fails('APPROVAL_GROUP_UNKNOWN', { group: 'constructor', known: ['release'] }),
    },
    {
      name: 'a group that is too small for ever',
      args: ['--group', 'release', '--min', '2'],
      approvalGroups: { release: ['ana@x', 'ANA@x'] },
      approvals: [ana],
      expect: fails('APPROVAL_GROUP_TOO_SMALL', { group: 'release', members: 1, needed: 2 }),
    },
    refusedArguments('--min'),
    refusedArguments('--min', '0'),
    refusedArguments('--min', '-1'),
    refusedArguments('--min', '1.5'),
    refusedArguments('--min', '100'),
    refusedArguments('--min', '1', '--min', '1'),
    refusedArguments('--min='),
    refusedArguments('2'),
    refusedArguments('--max', '2'),
    refusedArguments('--group'),
  ],
});

t.test('a waiting rule makes its policy check wait, and an error is listed beside it', async (t) => {
  const waiting = {
    rule: 'require-approvers',
    severity: 'note',
    message: 'waits',
    detail: { waiting: true },
  } as const;
  const error = { rule: 'require-approvers', severity: 'error', message: 'no' } as const;
  const ask = async (...findings: readonly (typeof waiting | typeof error)[]) =>
    policyCheck(noPool).run(
      checkContext({
        check: { kind: 'policy', command: 'require-approvers' },
        rules: { 'require-approvers': findings },
      }).context,
    );
  t.match(await ask(waiting), { waiting: true, findings: [waiting] });
  t.equal((await ask()).waiting, undefined);
  t.match((await ask(waiting, error)).findings, [waiting, error]);
});

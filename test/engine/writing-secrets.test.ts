import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';
import type { SecretSource } from '../../engine/state/run-secrets.ts';
import { long } from '../rooms/long.ts';
import { sampleWithPeople, sign } from './people.ts';
import { fixtures, type Json } from './sample.ts';

const token = 'publishing/Zq8vXw3Lm5Rt9Kp';
const secrets: SecretSource = {
  ofScope: async (scope) => new Map(scope === 'npm:publish' ? [['NPM_TOKEN', token]] : []),
  known: async () => [token],
};
const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const change = { source: { kind: 'patch', bytes } as const, secrets };

/** Passes where the variable is there, or where it is not. */
const check = (id: string, isGiven: boolean, kind = 'command'): Json => ({
  id,
  kind,
  command: `node -e "const { NPM_TOKEN: s = '' } = process.env; console.log('ran', s); process.exit((require('node:crypto').createHash('sha256').update(s).digest('hex') === '${sha256Hex(token)}') === ${isGiven} ? 0 : 3)"`,
  required: true,
  timeoutSeconds: 60,
});

const contract = (asking = 'require-approvers', approvers = 2): Json => ({
  risk: {
    rationale: 'A small fix; npm:publish is for the release check, which publishes the package.',
    humanInLoop: { required: true, minApprovers: approvers },
  },
  security: { secrets: { policy: 'allow-scoped', allowedScopes: ['npm:publish'] } },
  acceptance: {
    verificationPlan: {
      fastChecks: [{ ...(check('quick', false) as object), artifactsProduced: ['test-log'] }],
      releaseChecks: [
        check('publish', true),
        check('a-policy', false, 'policy'),
        { id: 'people', kind: 'policy', command: asking, required: true },
      ],
    },
  },
});

const outcome = (view: RunView, id: string): string | undefined =>
  view.stages.flatMap(({ checks }) => checks).find((one) => one.id === id)?.status;

long('a check receives secrets with write scopes only after two people have approved', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const view = await sample.run(change, contract());
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  t.equal(outcome(view, 'quick'), 'passed', 'a check before the release is given nothing');
  t.equal(outcome(view, 'publish'), 'waiting');
  const release = view.stages.find(({ stage }) => stage === 'release');
  const said = release?.checks.find(({ id }) => id === 'publish')?.findings ?? [];
  t.match(said, [
    { detail: { code: 'SECRETS_AWAITED', needed: 2 }, message: /`npm:publish`.*publishes the package/ },
  ]);
  await sign(sample, view.runId, key('ann@sample.example'), 'ann@sample.example');
  const still = await sample.resume(view.runId, { secrets });
  t.equal(still.state, 'waiting', 'one of two');
  t.equal(outcome(still, 'publish'), 'waiting');
  await sign(sample, view.runId, key('ben@sample.example'), 'ben@sample.example');
  const done = await sample.resume(view.runId, { secrets });
  t.equal(done.decision?.type, 'commit', JSON.stringify(done.stages));
  t.equal(outcome(done, 'publish'), 'passed', 'it was given the secret');
  t.equal(outcome(done, 'a-policy'), 'passed', 'a policy is given none even then');
});

long('approvals outside the required group, too few of them, or a rejection release no secret', async (t) => {
  const { sample, key } = sampleWithPeople(
    t,
    "[approvals.groups]\nleads = ['maintainer@sample.example', 'ann@sample.example']\n",
  );
  const grouped = await sample.run(change, contract('require-approvers --min 2 --group leads'));
  for (const person of ['ann@sample.example', 'ben@sample.example'])
    await sign(sample, grouped.runId, key(person), person);
  const still = await sample.resume(grouped.runId, { secrets });
  t.equal(outcome(still, 'publish'), 'waiting', 'two people, but not the two of the group');

  const one = await sample.run(change, contract('require-approvers --min 1'));
  await sign(sample, one.runId, key('ann@sample.example'), 'ann@sample.example');
  t.equal(
    outcome(await sample.resume(one.runId, { secrets }), 'publish'),
    'waiting',
    'a check that asks for fewer',
  );

  const refused = await sample.run(change, contract());
  await sign(sample, refused.runId, key('ben@sample.example'), 'ben@sample.example', 'reject');
  const ended = await sample.resume(refused.runId, { secrets });
  t.equal(ended.decision?.type, 'abandon');
  t.not(outcome(ended, 'publish'), 'passed');
});

long('approvals of an earlier verdict release no secret after the verdict has changed', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  const first = await sample.run(change, contract());
  for (const person of ['ann@sample.example', 'ben@sample.example'])
    await sign(sample, first.runId, key(person), person);
  const ran: (string | undefined)[] = [];
  const later = definePlugin({
    name: 'later',
    api: 1,
    setup({ hooks }) {
      hooks.stage.judge.tap(() => [{ rule: 'later', severity: 'warning', message: 'nobody saw this' }]);
      hooks.tool.started.tap(({ checkId }) => void ran.push(checkId));
      return undefined;
    },
  });
  const again = await sample.resume(first.runId, { secrets }, [later]);
  t.match(again.waiting?.people, [{ status: 'wrong-subject', detail: /`later`: nobody saw this/ }, {}]);
  t.equal(outcome(again, 'publish'), 'waiting');
  t.notOk(ran.includes('publish'), 'nothing was run that is given the secret, not even to be thrown away');
});

t.test('a spec that does not justify a write scope or requires too few approvers is refused', async (t) => {
  const { sample } = sampleWithPeople(t);
  const { risk, acceptance } = contract() as { readonly risk: object; readonly acceptance: Json };
  for (const [more, message] of [
    [{ risk: { ...risk, rationale: 'A small fix.' } }, /found no word of that scope/],
    [
      { risk: { ...risk, humanInLoop: { required: true, minApprovers: 1 } } },
      /expected a human loop of at least 2/,
    ],
    [{ acceptance: { verificationPlan: { releaseChecks: [] } } }, /expected a human loop of at least 2/],
  ] as const)
    await t.rejects(sample.run(change, { ...(contract() as object), acceptance, ...more }), {
      code: 'INTENTSPEC_INVALID',
      message,
    });
});

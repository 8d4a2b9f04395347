import t from 'tap';
import { planRun } from '../../../engine/plan-run.ts';
import { type Json, planRequest } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { fix, makeBranches } from './branches.ts';

const source = { kind: 'patch', bytes: fix } as const;
const config = '.writ/config.toml';

/** A repository that demands this of every change. */
function demanding(t: Parameters<typeof makeBranches>[0], text: string) {
  const made = makeBranches(t);
  made.commit(config, text);
  return made;
}

function always(command: string, more = ''): string {
  return `[[checks.always]]\nid = "house"\nstage = "integration"\ncommand = '${command}'\n${more}`;
}

long('a check of every change applies even if the spec neither names nor allows its command', async (t) => {
  const broken = '[[checks.always]]\nid = "broken"\nstage = "integration"\ncommand = \'echo "$(\'\n';
  const { sample } = demanding(t, `${always('awk "BEGIN { exit 1 }"')}${broken}`);
  const view = await sample.run({ source });
  t.equal(view.decision?.type, 'abandon');
  t.match(view.stages[1], {
    stage: 'integration',
    status: 'failed',
    expected: 2,
    checks: [
      { id: 'house', status: 'failed', required: true, fromPolicy: true, exitCode: 1 },
      { id: 'broken', status: 'failed' },
    ],
  });
  const said = (view.stages[1]?.checks ?? []).map(({ findings }) => findings[0]);
  t.match(said, [
    {
      rule: 'check-outcome',
      message:
        /found 1 \(check `house` of `\[\[checks\.always\]\]` in `\.writ\/config\.toml` at the policy commit\)$/,
    },
    {
      rule: 'acl',
      message: /is denied: .* \(check `broken` of `\[\[checks\.always\]\]` in/,
      detail: { config: { table: '[[checks.always]]' } },
    },
  ]);
});

long('a passed check of every change is recorded in the evidence, and the change lands', async (t) => {
  const { sample } = demanding(t, always('awk "BEGIN { exit 0 }"'));
  const view = await sample.run({ source });
  t.equal(view.decision?.type, 'commit');
  const tree = `refs/ai/runs/${view.runId}`;
  const input = JSON.parse(sample.git('show', `${tree}:decision-input.json`)) as Json;
  t.match(input, {
    policyCommit: view.policyCommit,
    stages: [
      { stage: 'fast' },
      { expected: 1, ran: 1, checks: [{ id: 'house', status: 'passed', required: true }] },
    ],
  });
  const [path = ''] = sample
    .git('ls-tree', '-r', '--name-only', tree)
    .split('\n')
    .filter((name) => name.endsWith('-house.json'));
  t.match(JSON.parse(sample.git('show', `${tree}:${path}`)), { check_id: 'house', from_policy: true });
});

long('a spec cannot tolerate, deny or take the id of a check of every change', async (t) => {
  const suite = always('node --test --test-reporter=tap old.mjs', 'kind = "testSuite"\n');
  const { sample, commit } = demanding(t, suite);
  commit('old.mjs', "import test from 'node:test';\ntest('old', () => { throw new Error('old'); });\n");
  const lenient = { acceptance: { qualityGates: { maxAllowedRegression: 'medium' } } };
  const tolerated = await sample.run({ source }, lenient);
  t.match(tolerated.stages[1]?.checks, [
    { id: 'house', status: 'failed', baseline: { failure: { outcome: 'old-failure' } } },
  ]);
  t.notOk(tolerated.stages[1]?.checks[0]?.tolerated);
  t.equal(tolerated.decision?.type, 'abandon');

  const { sample: second } = demanding(t, always('touch done'));
  const denies = {
    security: {
      toolAcl: {
        deny: [
          { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['touch'] } },
        ],
      },
    },
  };
  t.equal((await second.run({ source }, denies)).decision?.type, 'commit');

  const { sample: third } = demanding(t, always('false'));
  const takes = {
    acceptance: {
      verificationPlan: {
        integrationChecks: [{ id: 'house', kind: 'command', command: 'true', required: true }],
      },
    },
  };
  await t.rejects(third.run({ source }, takes), { code: 'CONFIG_INVALID', detail: { check_id: 'house' } });
});

long('a check of every change has no network, and its configuration must be complete', async (t) => {
  const { sample } = demanding(t, always('cat /proc/net/dev | grep -v lo: | grep : && exit 1; exit 0'));
  t.equal((await sample.run({ source })).decision?.type, 'commit');
  for (const wrong of [
    always('true', 'required = false\n'),
    '[[checks.always]]\nid = "house"\ncommand = "true"\n',
    '[[checks.always]]\nstage = "fast"\ncommand = "true"\n',
    `${always('true')}${always('false')}`,
    always('true', 'stage_ = "x"\n'),
  ]) {
    const { sample } = demanding(t, wrong);
    await t.rejects(sample.run({ source }), { code: 'CONFIG_INVALID' }, wrong);
  }
});

const forbids = 'forbid(principal, action, resource);\n';
const permits = 'permit(principal, action, resource);\n';
const cedar = '[policy.release]\nengine = "cedar"\nfiles = [".writ/policies/release.cedar"]\n';

long('a configured policy is evaluated for a change whose spec does not name it', async (t) => {
  for (const [text, stage, type] of [
    [forbids, 'release', 'abandon'],
    [permits, 'release', 'commit'],
    [forbids, 'fast', 'abandon'],
  ] as const) {
    const { sample, commit } = makeBranches(t);
    commit('.writ/policies/release.cedar', text);
    commit(config, stage === 'release' ? cedar : `${cedar}stage = "${stage}"\n`);
    const view = await sample.run({ source });
    t.equal(view.decision?.type, type, `${stage}: ${text}`);
    const judged = view.stages.find((one) => one.stage === stage);
    t.match(judged?.checks.at(-1), {
      id: 'policy-release',
      kind: 'policy',
      required: true,
      fromPolicy: true,
    });
  }
});

long('a configured policy is evaluated once if the spec requires it too', async (t) => {
  for (const [required, ids] of [
    [true, ['own']],
    [false, ['own', 'policy-release']],
  ] as const) {
    const { sample, commit } = makeBranches(t);
    commit('.writ/policies/release.cedar', forbids);
    commit(config, cedar);
    const own = { id: 'own', kind: 'policy', command: 'cedar release', required };
    const spec = { acceptance: { verificationPlan: { releaseChecks: [own] } } };
    const view = await sample.run({ source }, spec);
    t.equal(view.decision?.type, 'abandon');
    t.same(
      view.stages.at(-1)?.checks.map(({ id }) => id),
      ids,
    );
  }
});

t.test('a plan shows the checks that every change must pass', async (t) => {
  const { sample } = demanding(t, always('awk 1'));
  await using engine = await sample.engine();
  const plan = await planRun(engine, planRequest(sample, {}, 'patch'));
  t.equal(plan.policyCommit, sample.git('rev-parse', 'main'));
  t.match(plan.stages[1], { stage: 'integration', checks: [{ id: 'house' }], fromPolicy: ['house'] });
});

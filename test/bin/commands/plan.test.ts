import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { readDirectory } from '../../../plugins/third-party/plugin-package.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { makeSample } from '../../engine/sample.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const check = {
  kind: 'command' as const,
  command: 'true',
  timeoutSeconds: 60,
  expectedExitCode: 0,
  required: true,
  artifactsProduced: [],
};
const spec = (objectives: readonly string[], planGeneration: object = {}) =>
  JSON.stringify(
    sampleSpecWith({
      metadata: { target: { repo: { type: 'git', locator: 'https://example.com/x.git' }, baseRef: 'main' } },
      intent: { objectives, inScope: ['src/'] },
      acceptance: {
        verificationPlan: {
          fastChecks: [{ ...check, id: 'unit' }],
          releaseChecks: [{ ...check, id: 'notes' }],
        },
      },
      objmodel: { planGeneration },
    }),
  );
const sample = makeSample();
t.teardown(() => sample.remove());
const { root: cwd, env } = sample;

async function plan(stdin: string, ...options: readonly string[]) {
  const { code, out } = await runLine(['--json', 'plan', '-', ...options], commands, { stdin, cwd, env });
  const document = JSON.parse(out);
  if (document.data) t.strictSame(faultsOf('plan', document.data), []);
  return { code, ...document };
}

t.test('a surplus word is named by the error and its hint', async (t) => {
  const { error } = await plan(spec(['write src/a.ts']), 'surplus');
  t.match(error, { code: 'USAGE', message: /`surplus`/, hints: [/^leave `surplus` out; /] });
});

t.test('`writ plan` lists tasks, edges and gates for a worker or a patch', async (t) => {
  const objectives = ['write src/a.ts', 'tidy src/'];
  const { data } = await plan(spec(objectives));
  t.match(data, {
    for: 'worker',
    tasks: [
      { id: 'task-1', number: 1, steps: ['write src/a.ts'], predicted_writes: ['src/a.ts'], depends_on: [] },
      { id: 'task-2', number: 2, depends_on: ['task-1'] },
      { id: 'gate-fast', kind: 'gate', steps: ['unit'], stage: 'fast', stages: ['fast'] },
      { id: 'gate-release', kind: 'gate', steps: ['notes'], stage: 'release' },
    ],
    edges: [
      ['task-1', 'task-2'],
      ['task-1', 'gate-fast'],
      ['task-2', 'gate-fast'],
      ['gate-fast', 'gate-release'],
    ],
    scope: { write: ['src/'] },
  });
  const patch = await plan(spec(objectives), '--for', 'patch');
  t.match(patch.data, {
    for: 'patch',
    tasks: [{ id: 'task-1', steps: objectives }, { id: 'gate-fast' }, {}],
  });
  t.equal(patch.data.tasks.length, 3);
  const rows = (ledger: readonly { readonly asked: boolean }[]) => ledger.filter(({ asked }) => asked).length;
  t.ok(rows(data.ledger) > rows(patch.data.ledger), 'a worker asks for more rows');
  const folded = await plan(spec(objectives, { gateTaskPerStage: false }));
  t.match(folded.data.tasks[2], { id: 'gate', steps: ['unit', 'notes'], stages: ['fast', 'release'] });
  t.notOk('stage' in folded.data.tasks[2]);
});

t.test('a risk factor without configured checks causes a warning', async (t) => {
  const document = JSON.parse(spec(['write src/a.ts']));
  const { code, data } = await plan(
    JSON.stringify({ ...document, risk: { ...document.risk, factors: ['payments'] } }),
  );
  t.equal(code, 0);
  t.match(
    data.issues.filter(({ path }: { readonly path: string }) => path.startsWith('/risk/')),
    [{ code: 'SEMANTIC_RISK_FACTOR_UNKNOWN', path: '/risk/factors/0', severity: 'warning' }],
  );
});

t.test(
  'an invalid plan is refused with its code, and human output lists tasks and their writes',
  async (t) => {
    t.match(await plan(spec(['do it', 'do  it'])), { code: 1, error: { code: 'PLAN_DUPLICATE_OBJECTIVE' } });
    t.match(await plan(spec(['write src/a.ts', 'tidy src/'], { conflictResolution: 'fail-fast' })), {
      code: 1,
      error: { code: 'PLAN_CONFLICT' },
    });
    t.equal((await plan(spec(['do it']), '--for', 'nobody')).code, 129);
    const { out } = await runLine(['plan', '-'], commands, {
      stdin: spec(['write src/a.ts', 'wait']),
      cwd,
      env,
    });
    t.match(out, /task-1.*write src\/a\.ts.*writes src\/a\.ts.*task-2.*gate-fast {2}after task-1, task-2/s);
  },
);

t.test('the plan lists every refusal of a run, returns the first, and writes nothing', async (t) => {
  const before = sample.state();
  const patch = join(sample.home, 'no.patch');
  writeFileSync(patch, 'no patch at all\n');
  const document = JSON.parse(spec(['do it', 'do  it']));
  const { code, error, data } = await plan(
    JSON.stringify({ ...document, lifecycle: { ...document.lifecycle, status: 'draft' } }),
    '--patch',
    patch,
    '--author',
    'nobody',
  );
  t.match({ code, error }, { code: 1, error: { code: 'PLAN_DUPLICATE_OBJECTIVE' } });
  t.match(data.refusals, [
    { judgement: 'objectives-differ', sees: 'contract', path: '/intent/objectives' },
    { judgement: 'intent-active', sees: 'repository', code: 'LIFECYCLE_NOT_ACTIVE' },
    { judgement: 'plan-drafted', code: 'PLAN_DUPLICATE_OBJECTIVE' },
    { judgement: 'wording-readable', sees: 'change', code: 'USAGE' },
    { judgement: 'candidate-taken', sees: 'change', code: 'PATCH_MALFORMED' },
  ]);
  t.strictSame(data.tasks, []);
  t.equal(sample.state(), before);
  t.notOk(existsSync(join(cwd, '.git', 'writ')), 'no run, no ledger, no plugin');
  t.strictSame(readdirSync(sample.home), ['no.patch'], 'no key');
});

t.test('outside a repository the plan is shown and the run is refused', async (t) => {
  const ran = await runLine(['--json', 'plan', '-'], commands, {
    stdin: spec(['write src/a.ts']),
    cwd: sample.home,
    env,
  });
  t.match(JSON.parse(ran.out), {
    error: { code: 'NOT_A_REPOSITORY' },
    data: {
      tasks: [{ predicted_writes: ['src/a.ts'] }, {}, {}],
      refusals: [{ judgement: 'repository-stated' }],
    },
  });
});

t.test('the plan lists stage checks, artifacts and evidence policies of plugins', async (t) => {
  const place = join(cwd, 'tools/kit');
  mkdirSync(place, { recursive: true });
  mkdirSync(join(cwd, '.writ'), { recursive: true });
  const part = { module: './a.js' };
  const brought = {
    stageChecks: [{ name: 'ticket', ...part, stages: ['security', 'release'] }],
    artifacts: [{ name: 'owners-of', ...part, contentType: 'text/plain', extension: 'txt' }],
    evidence: [{ name: 'near', ...part }],
  };
  const manifest = { name: 'kit', version: '1.0.0', writ: { api: 1, ...brought } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'a.js'), '');
  const digest = `sha256:${(await readDirectory(place)).digest}`;
  writeFileSync(
    join(cwd, '.writ/config.toml'),
    `[[plugins]]\npath = "tools/kit"\ndigest = "${digest}"\n[artifacts.owners]\nplugin = "owners-of"\n[evidence]\nplugins = ["near"]\n`,
  );
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'A plugin');
  const given = ['--for', 'patch', '--plugin', digest];
  const { data } = await plan(spec(['do it']), ...given);
  const ticket = [{ name: 'ticket', plugin: 'kit' }];
  type Stage = { readonly stage: string; readonly stage_checks: unknown; readonly artifacts: unknown };
  t.strictSame(
    data.stages.map(({ stage, stage_checks: checks, artifacts }: Stage) => [stage, checks, artifacts]),
    [
      ['fast', [], []],
      ['integration', [], []],
      ['security', ticket, []],
      ['release', ticket, [{ name: 'owners', plugin: 'owners-of' }]],
    ],
    JSON.stringify(data.refusals),
  );
  t.strictSame(data.evidence, ['near']);
  const { out } = await runLine(['plan', '-', ...given], commands, { stdin: spec(['do it']), cwd, env });
  t.match(out, /security {2}no check listed.*asks ticket of plugin kit.*release.*makes owners by owners-of/s);
  t.match(out, 'sources are evaluated by near as well');
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { planRun } from '../../../engine/plan-run.ts';
import { submodulePaths } from '../../../readers/reports/missing-dependencies.ts';
import { fixtures, makeSample, planRequest } from '../sample.ts';

t.setTimeout(120_000);

const source = {
  kind: 'patch',
  bytes: readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff')),
} as const;

function unitCheck(command: string, kind = 'command') {
  const unit = { id: 'unit', kind, command, timeoutSeconds: 60, required: true };
  const allow = [{ tool: 'workspace.command', actions: ['execute'] }];
  return { acceptance: { verificationPlan: { fastChecks: [unit] } }, security: { toolAcl: { allow } } };
}

/** The sample with a submodule at `vendor/lib`. */
function withSubmodule() {
  const sample = makeSample();
  const modules =
    '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib\n[submodule "gone"]\n\tpath = gone\n';
  writeFileSync(join(sample.root, '.gitmodules'), modules);
  sample.git('add', '--all');
  sample.git('update-index', '--add', '--cacheinfo', `160000,${sample.git('rev-parse', 'HEAD')},vendor/lib`);
  sample.git('commit', '--quiet', '-m', 'Add a submodule');
  return sample;
}

const notice = /^`vendor\/lib` is a submodule: its directory is empty .*`git subtree`/;

t.test('a run and its plan have a notice for each submodule', async (t) => {
  const sample = withSubmodule();
  t.teardown(() => sample.remove());
  const spec = unitCheck('ls vendor/lib');
  const engine = await sample.engine();
  const plan = await planRun(engine, planRequest(sample, spec, 'patch'));
  t.match(
    plan.notices.filter(({ code }) => code === 'SUBMODULE_EMPTY'),
    [{ message: notice, severity: 'warning' }],
  );
  const view = await sample.run({ source }, spec);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(view.notices, [notice]);
  t.equal(view.notices?.length, 1);
  await engine[Symbol.asyncDispose]();
});

t.test('a check that fails for want of a submodule decides nothing about the change', async (t) => {
  const sample = withSubmodule();
  t.teardown(() => sample.remove());
  await t.rejects(sample.run({ source }, unitCheck('cat vendor/lib/k.js')), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    message: /`vendor\/lib` is missing, at the base commit too/,
    hints: [notice, /neither accepted nor refused yet/],
  });
});

t.test('a suite in which one test reads a submodule decides nothing about the change', async (t) => {
  const sample = withSubmodule();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'test/lib.test.js'), "import '../vendor/lib/k.js';\n");
  sample.git('add', 'test');
  sample.git('commit', '--quiet', '-m', 'Test the submodule');
  const spec = unitCheck('node --test --test-reporter=tap', 'testSuite');
  await t.rejects(sample.run({ source }, spec), {
    code: 'WORKSPACE_DEPENDENCIES_MISSING',
    hints: [notice, /./],
  });
});

t.test('paths of `.gitmodules` are relative and plain', async (t) => {
  const text =
    'path = a/b/\n  path="c d"\npath = ../out\npath = /etc\npath = x/.git/hooks\nxpath = y\npath = a/b\n';
  t.strictSame(submodulePaths(Buffer.from(text)), ['a/b', 'c d']);
  t.strictSame(submodulePaths(undefined), []);
});

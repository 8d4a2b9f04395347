import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixtures, makeSample } from '../sample.ts';

t.setTimeout(120_000);

const source = {
  kind: 'patch',
  bytes: readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed/change.diff')),
} as const;

const spec = (required: boolean) => ({
  artifacts: {
    required: [
      ...['patchset', 'test-log'].map((name) => ({ name, stage: 'per-task', required: true })),
      { name: 'sca-report', stage: 'security', required },
    ],
  },
});

t.test('without imported advisories', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await t.rejects(
    sample.run({ source }, spec(true)),
    { code: 'ADVISORIES_MISSING', exitCode: 128, hints: [/writ sca import FILE/] },
    'a required report',
  );
  t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'refused before any work');
  const { decision, stages } = await sample.run({ source }, spec(false));
  t.equal(decision?.type, 'commit', 'an optional report blocks nothing');
  const findings = stages.flatMap((stage) => stage.findings);
  t.match(findings, [{ rule: 'artifact-present', severity: 'warning', message: /advisories.*sca import/ }]);
});

import t from 'tap';
import type { ArtifactName } from '../../../core/interfaces/intentspec.gen.ts';
import type { StageName } from '../../../core/interfaces/stage.ts';
import { createRules } from '../../../core/kernel/rules.ts';
import { wantedAt } from '../../../engine/evaluate/artifacts.ts';
import { rules as builtIn } from '../../../gates/rules.ts';
import { sampleSpecWith } from '../../../testing.ts';

const rules = createRules();
for (const rule of builtIn) rules.add(rule);

/** What is made at a stage where the contract wants a report at release, and has a rule judge it before. */
function wanted(stage: StageName, required: readonly ArtifactName[], command: string): readonly string[] {
  const check = {
    ...{ id: 'known', kind: 'policy' as const, command, required: true },
    ...{ timeoutSeconds: 60, expectedExitCode: 0, artifactsProduced: [] },
  };
  const spec = sampleSpecWith({
    artifacts: { required: required.map((name) => ({ name, stage: 'release', required: true, format: '' })) },
    acceptance: { verificationPlan: { securityChecks: [check] } },
  });
  return wantedAt(spec, stage, rules).filter((name) => name !== 'test-log');
}

t.test('a declared artifact is made at the stage whose check runs the rule that reads it', (t) => {
  t.same(wanted('security', ['sca-report', 'sast-report'], 'sca --quiet'), ['sca-report']);
  t.same(wanted('security', ['sca-report', 'sast-report'], 'sast'), ['sast-report']);
  t.same(wanted('security', ['sast-report'], 'sca'), [], 'nobody declares it');
  t.same(wanted('security', ['sca-report'], 'secrets'), [], 'it judges none');
  t.same(wanted('release', ['sca-report'], 'secrets'), ['sca-report']);
  t.end();
});

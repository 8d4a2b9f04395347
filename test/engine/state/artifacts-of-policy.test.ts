import t from 'tap';
import { withPolicyArtifacts } from '../../../engine/state/policies.ts';
import { sampleSpec } from '../../../testing.ts';

t.test('artifacts that the policy demands at a stage become required artifacts of the spec', (t) => {
  const stages = ['fast', 'integration', 'security', 'release'] as const;
  const artifacts = new Map(stages.map((stage) => [`of-${stage}`, { plugin: 'p', stage, format: '' }]));
  const { required } = withPolicyArtifacts(sampleSpec, { artifacts }).artifacts;
  t.strictSame(
    required.slice(sampleSpec.artifacts.required.length).map(({ name, stage }) => [name, stage]),
    [
      ['of-fast', 'per-task'],
      ['of-integration', 'integration'],
      ['of-security', 'security'],
      ['of-release', 'release'],
    ],
  );
  t.end();
});

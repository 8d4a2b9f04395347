import t from 'tap';
import { givenSecrets, secretsAwaited } from '../../../engine/evaluate/find-dependencies.ts';
import { sampleSpecWith } from '../../../testing.ts';

type Attempt = Parameters<typeof givenSecrets>[0];
type Task = Parameters<typeof givenSecrets>[1];

t.test('commands and suites wait for approval of scoped secrets at release, policy checks do not', (t) => {
  const effective = sampleSpecWith({
    security: { secrets: { policy: 'allow-scoped', allowedScopes: ['deploy'] } },
  });
  const attempt = {
    identity: { contract: { effective } },
    services: { secrets: { given: { TOKEN: 'x' } } },
    approvals: [],
  } as unknown as Attempt;
  const task = (stage: string, kind: string) => ({ stage, check: { kind }, earlier: [] }) as unknown as Task;
  for (const [stage, kind, waits] of [
    ['release', 'command', true],
    ['release', 'testSuite', true],
    ['release', 'policy', false],
    ['fast', 'command', false],
  ] as const) {
    t.equal(secretsAwaited(attempt, task(stage, kind)) !== undefined, waits, `${stage} ${kind}`);
    t.strictSame(givenSecrets(attempt, task(stage, kind)), {}, 'nobody approved');
  }
  t.end();
});

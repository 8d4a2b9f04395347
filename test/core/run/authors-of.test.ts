import t from 'tap';
import type { Attempt } from '../../../core/run/attempt.ts';
import { authorsOf } from '../../../core/run/receive-approvals.ts';
import { stepsOver } from '../../../core/run/steps.ts';
import { openRepository } from '../../../core/vcs/repository.ts';
import { makeSample } from './sample.ts';

t.test('a record from elsewhere can add authors, and take none away', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  process.env.GIT_CONFIG_GLOBAL = '/dev/null';
  process.env.GIT_CONFIG_NOSYSTEM = '1';
  const fetched = { step: 'authors', answer: ['elsewhere@sample.example'] };
  const attempt = {
    steps: stepsOver({
      records: [{ type: 'step-ended', data: fetched }] as never,
      append: async () => undefined,
    }),
    contract: {
      effective: {
        metadata: { createdBy: { type: 'user', id: 'ann' } },
        objmodel: { actorMapping: { coderActorId: 'coder' } },
      },
    },
    ground: { repository: await openRepository(sample.root), base: {} },
    tip: undefined,
  } as unknown as Attempt;
  const authors = await authorsOf(attempt);
  for (const name of ['elsewhere@sample.example', 'ann', 'coder', 'maintainer@sample.example'])
    t.ok(authors.includes(name), name);
});

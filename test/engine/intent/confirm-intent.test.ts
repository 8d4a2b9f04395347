import t from 'tap';
import { confirmIntent, requireConfirmed } from '../../../api/intent/lifecycle.ts';
import { makeSample, sampleSpec } from '../sample.ts';

t.test('a draft whose run was refused after its confirmation can be confirmed again', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const engine = await sample.engine();
  const draft = sampleSpec({ lifecycle: { status: 'draft' } });
  const eventsOf = (): number =>
    sample
      .git(
        'ls-tree',
        '-r',
        '--name-only',
        sample.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents'),
      )
      .match(/^events\//gm)?.length ?? 0;
  await confirmIntent(engine, sample.root, draft);
  const before = eventsOf();
  await confirmIntent(engine, sample.root, draft);
  await requireConfirmed(engine, sample.root, draft);
  t.equal(eventsOf(), before, 'nothing is recorded twice');
  const other = sampleSpec({
    lifecycle: { status: 'draft' },
    intent: { summary: 'Another goal than before' },
  });
  await t.rejects(requireConfirmed(engine, sample.root, other), { code: 'LIFECYCLE_NOT_ACTIVE' });
});

import t from 'tap';
import { firstJudgements, laterJudgements } from '../../../../engine/run/open/opening-judgements.ts';

t.test('each reason to refuse a run before any work has a name of its own, which a plan tells', (t) => {
  const ids = [...firstJudgements, ...laterJudgements].map(({ id }) => id);
  t.same(
    ids.filter((id, at) => !/^[a-z]+(?:-[a-z]+)*$/.test(id) || ids.indexOf(id) !== at),
    [],
  );
  for (const id of ['worker-cites', 'metadata-kept', 'seal-opens']) t.ok(ids.includes(id), id);
  t.end();
});

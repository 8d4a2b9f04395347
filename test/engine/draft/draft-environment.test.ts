import t from 'tap';
import { readDraftEnvironment } from '../../../engine/draft/draft-request.ts';
import { startedChildren } from '../../workspace/git/started-children.ts';
import { makeSample } from '../sample.ts';

t.test('`readDraftEnvironment` reads the base through one `git cat-file` process that ends', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  using children = startedChildren();
  const environment = await readDraftEnvironment(engine, {
    repositoryPath: sample.root,
    runId: '0196a3c0-2222-7000-8000-000000000002',
    target: {
      repo: { type: 'local', locator: sample.root },
      baseRef: 'main',
      createdBy: { type: 'user', id: 'somebody@example.org' },
    },
  });
  t.equal(environment.base.commit, sample.git('rev-parse', 'main'));
  t.ok(environment.rootNames.has('src'));
  t.same(
    children.gits().filter((name) => name === 'cat-file'),
    ['cat-file'],
  );
  t.same(children.running(), []);
});

import { listDraftIds, readDraft } from '../../../engine/draft/stored-draft.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import { scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { startWrit } from '../start-writ.ts';

long('`--goal` starts a goal at once and waits at the first user confirmation', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];
  await using model = await scriptModel([submits({ ...priceDraft, verified })]);
  const argv = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--json'];
  const asked = ['--agent', 'coder', '--provider', 'openai', '--model', 'scripted', '--api-base', model.base];
  const started = startWrit([...argv, ...asked, '--goal', ' Make prices exact. '], {
    cwd: sample.root,
    env: { ...sample.env, OPENAI_API_KEY: 'key-of-nobody-1234567890' },
  });
  await started.until(() => started.out().endsWith('\n'));
  const { data } = JSON.parse(started.out());
  const get = async (path: string) => (await fetch(`${data.base_url}/api/code/${path}`)).json();
  t.match(await get('goal/status'), { status: 'active', goal: { objective: 'Make prices exact.' } });
  await until(async () => (await get('session')).status === 'awaiting_interaction');
  const { interactions, controller, goal } = await get('session');
  t.match(interactions, [{ kind: 'intent_review_choice', status: 'pending' }]);
  t.match(controller, { kind: 'none', canWrite: false }, 'nobody has to be there for it');
  t.match(goal.criteria, [{ text: 'Make prices exact.', checks: ['unit'], status: 'open' }]);
  const repository = await openRepository(sample.root);
  const [draft = ''] = await listDraftIds(repository);
  const { sha256: _, ...profile } = readDraft(repository, draft)?.spent.models?.[0]?.profile ?? {
    sha256: '',
  };
  t.strictSame(profile, { name: 'coder', tier: 'embedded' }, 'a provenance will name the profile');
  started.child.kill('SIGTERM');
  t.equal(await started.ended, 0);
});

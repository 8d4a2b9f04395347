import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePlugin } from '../../core/kernel/plugin.ts';
import { long } from '../rooms/long.ts';
import { fixtures, makeSample } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: fix } as const;

long('plugin hooks observe the events of a run in order, and their errors do not stop it', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const told: string[] = [];
  let attested: string | undefined;
  const watcher = definePlugin({
    name: 'watcher',
    api: 1,
    setup({ hooks }) {
      const tell = (what: string): never => {
        told.push(what);
        throw new Error('nobody reads this');
      };
      hooks.plan.review.tap(({ tasks }) => tell(`plan of ${tasks.length}`));
      hooks.tool.started.tap(({ checkId }) => tell(`started ${checkId}`));
      hooks.tool.settled.tap(({ outcome }) => tell(`settled ${outcome}`));
      hooks.stage.settled.tap(({ stage }) => tell(`stage ${stage.stage} ${stage.status}`));
      hooks.attest.settled.tap(({ commitSha, attestation }) => {
        attested = commitSha;
        tell(attestation.bundle.length > 0 ? 'attested' : 'nothing attested');
      });
      hooks.decision.made.tap(({ type }) => tell(`decided ${type}`));
      return undefined;
    },
  });
  const view = await sample.run({ source }, {}, [watcher]);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(attested, view.decision?.commitSha);
  t.strictSame(told, [
    'plan of 1',
    'started unit',
    'settled done',
    // Rule `new-tests`: the changed tests on the product of the base.
    'started unit',
    'settled done',
    // Rule `tests-kept`: the base as it is.
    'started unit',
    'settled done',
    // Rule `tests-kept`: the tests of the base on the candidate.
    'started unit',
    'settled done',
    'stage fast passed',
    'stage integration skipped',
    'stage security skipped',
    'stage release skipped',
    'attested',
    'decided commit',
  ]);
});

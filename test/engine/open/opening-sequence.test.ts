import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { type Check, given, openChecks } from '../../../engine/open/opening.ts';
import { checkRequest, checkRest } from '../../../engine/open/opening-sequence.ts';
import { makeSample, sampleSpec } from '../sample.ts';

/** By id: how far each check looks, and what part of the spec a plan says that it is about. */
const expected: readonly (readonly [id: string, sees: string, about: string])[] = [
  ['worker-opens', 'change', ''],
  ['contract-read', 'contract', ''],
  ['version-supported', 'contract', '/apiVersion'],
  ['rows-enforced', 'contract', ''],
  ['not-ended', 'contract', '/lifecycle/status'],
  ['metrics-readable', 'contract', '/objmodel/runPolicy/metricsSchema'],
  ['objectives-differ', 'contract', '/intent/objectives'],
  ['worker-cites', 'contract', '/evidence/minCitationsPerDecision'],
  ['repository-stated', 'repository', '/metadata/target/repo'],
  ['store-opens', 'repository', '/objmodel/objectStore/backend'],
  ['metadata-kept', 'repository', '/metadata'],
  ['intent-active', 'repository', '/lifecycle/status'],
  ['start-found', 'repository', '/metadata/target/baseRef'],
  ['landing-chosen', 'repository', '/metadata/target/baseRef'],
  ['objects-here', 'repository', '/metadata/target/repo'],
  ['config-read', 'repository', ''],
  ['content-storable', 'repository', '/objmodel/objectStore/backend'],
  ['mode-known', 'repository', ''],
  ['signers-read', 'repository', '/risk/humanInLoop'],
  ['checks-joined', 'repository', ''],
  ['dependencies-seen', 'repository', '/acceptance/verificationPlan'],
  ['plan-drafted', 'repository', '/intent/objectives'],
  ['network-permitted', 'contract', '/constraints/security/networkPolicy'],
  ['model-opens', 'machine', ''],
  ['sandbox-works', 'machine', '/constraints/security/networkPolicy'],
  ['judges-trusted', 'machine', ''],
  ['system-supported', 'machine', '/constraints/platform/supportedOS'],
  ['runtime-found', 'machine', '/constraints/platform/languageRuntime'],
  ['ground-named', 'machine', ''],
  ['secrets-found', 'machine', '/security/secrets'],
  ['plugins-handed', 'machine', ''],
  ['artifacts-makeable', 'machine', '/artifacts/required'],
  ['seal-opens', 'machine', '/provenance'],
  ['plugin-model-opens', 'machine', ''],
  ['agent-allowed', 'machine', '/security/toolAcl'],
  ['wording-readable', 'change', ''],
  ['candidate-taken', 'change', ''],
  ['commit-signable', 'machine', ''],
  ['lockfiles-there', 'change', ''],
  ['governed-by-people', 'change', ''],
  ['paths-clean', 'change', ''],
  ['predicted-paths-clean', 'change', ''],
  ['author-known', 'change', '/risk/humanInLoop'],
  ['push-possible', 'repository', ''],
];

t.test('the reasons to refuse a run have a fixed id, scope, subject and order', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using engine = await sample.engine();
  const seen: (readonly string[])[] = [];
  const check: Check = async (...[id, sees, about]) => {
    seen.push([id, sees, about]);
    return given<never>(undefined);
  };
  const place = { dry: true, keep: unasked, makeScratch: unasked, pluginCache: unasked };
  const plain = { repositoryPath: sample.root, sandbox: 'auto', clock: systemClock };
  const request = { ...plain, specBytes: Buffer.from(sampleSpec()) };
  const question = { engine, request, place, runId: '', kind: 'worker' } as const;
  await checkRest(check, question, await checkRequest(check, question));
  t.strictSame(seen, expected);
  for (const [id = ''] of seen) t.match(id, /^[a-z]+(?:-[a-z]+)*$/);
});

t.test('a check that depends on a refused one is skipped, others still run', async (t) => {
  const refused: string[] = [];
  const check = openChecks(({ id }) => refused.push(id));
  const fault = new WritError('REF_NOT_FOUND');
  const first = await check('first', 'change', '', () => {
    if (refused.length === 0) throw fault;
    return 1;
  });
  const second = await check('second', 'change', '', () => first() + 1);
  const third = await check('third', 'change', '', () => 3);
  t.strictSame([first.isFound, second.isFound, third()], [false, false, 3]);
  t.strictSame(refused, ['first']);
  await t.rejects(
    openChecks()('first', 'change', '', () => Promise.reject(fault)),
    { code: 'REF_NOT_FOUND' },
    'without a listener, the first refusal is thrown',
  );
});

function unasked(): never {
  throw new Error('no check runs');
}

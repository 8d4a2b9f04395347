import t from 'tap';
import { firstChecks, laterChecks } from '../../../engine/open/opening-judgements.ts';

t.test('each reason to refuse a run before any work has a unique kebab-case name', (t) => {
  const ids = [...firstChecks, ...laterChecks].map(({ id }) => id);
  t.same(
    ids.filter((id, at) => !/^[a-z]+(?:-[a-z]+)*$/.test(id) || ids.indexOf(id) !== at),
    [],
  );
  for (const id of ['worker-cites', 'metadata-kept', 'seal-opens']) t.ok(ids.includes(id), id);
  t.end();
});

/**
 * By name: how far each looks, what of the contract a plan says that it is about, and what earlier ones have to have
 * found.
 */
const said: readonly (readonly [id: string, sees: string, about: string, needs: string])[] = [
  ['worker-opens', 'change', '', 'engine source'],
  ['contract-read', 'contract', '', 'engine request'],
  ['version-supported', 'contract', '/apiVersion', 'admitted'],
  ['rows-enforced', 'contract', '', 'ledger admitted'],
  ['not-ended', 'contract', '/lifecycle/status', 'admitted'],
  ['metrics-readable', 'contract', '/objmodel/runPolicy/metricsSchema', 'admitted'],
  ['objectives-differ', 'contract', '/intent/objectives', 'admitted'],
  ['worker-cites', 'contract', '/evidence/minCitationsPerDecision', 'admitted worker'],
  ['repository-stated', 'repository', '/metadata/target/repo', 'request place admitted'],
  ['store-opens', 'repository', '/objmodel/objectStore/backend', 'plugins request repository admitted'],
  ['metadata-kept', 'repository', '/metadata', 'store admitted'],
  ['intent-active', 'repository', '/lifecycle/status', 'store admitted'],
  ['start-found', 'repository', '/metadata/target/baseRef', 'kind repository admitted'],
  [
    'landing-chosen',
    'repository',
    '/metadata/target/baseRef',
    'request kind runId repository admitted origin',
  ],
  ['objects-here', 'repository', '/metadata/target/repo', 'repository landing origin'],
  ['config-read', 'repository', '', 'plugins repository landing'],
  ['signers-read', 'repository', '/risk/humanInLoop', 'repository landing'],
  ['checks-joined', 'repository', '', 'admitted config'],
  ['dependencies-seen', 'repository', '/acceptance/verificationPlan', 'repository landing config contract'],
  ['plan-drafted', 'repository', '/intent/objectives', 'plugins who repository landing contract'],
  ['model-opens', 'machine', '', 'engine request worker config'],
  ['sandbox-works', 'machine', '/constraints/security/networkPolicy', 'engine request admitted'],
  ['judges-trusted', 'machine', '', 'engine request place repository landing configBytes config sandbox'],
  ['system-supported', 'machine', '/constraints/platform/supportedOS', 'admitted'],
  ['runtime-found', 'machine', '/constraints/platform/languageRuntime', 'admitted sandbox'],
  [
    'ground-named',
    'machine',
    '',
    'admitted repository landing sandbox judges configBytes operatingSystem runtimes',
  ],
  ['secrets-found', 'machine', '/security/secrets', 'request admitted judges'],
  ['plugins-handed', 'machine', '', 'judges'],
  ['artifacts-makeable', 'machine', '/artifacts/required', 'engine contract judges'],
  ['seal-opens', 'machine', '/provenance', 'engine place contract repository landing config judges'],
  ['plugin-model-opens', 'machine', '', 'engine request worker judges'],
  ['wording-readable', 'change', '', 'request source repository origin'],
  ['candidate-taken', 'change', '', 'place request source repository origin landing'],
  ['lockfiles-there', 'change', '', 'landing scratch supplied config scope'],
  ['governed-by-people', 'change', '', 'landing scratch supplied'],
  ['paths-clean', 'change', '', 'request repository landing supplied local'],
  ['predicted-paths-clean', 'change', '', 'request source repository landing draft scratch'],
  ['author-known', 'change', '/risk/humanInLoop', 'source repository origin contract supplied'],
];

t.test('the reasons to refuse a run declare their scope, subject and needs in a fixed order', (t) => {
  const all = [...firstChecks, ...laterChecks];
  t.strictSame(
    all.map(({ id, sees, about, needs }) => [id, sees, about, needs.join(' ')]),
    said,
  );
  t.end();
});

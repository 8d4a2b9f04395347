import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, sampleIntent, samplePatch } from './place.ts';
import { type Recipe, type RunData, runSample, sealedClaims } from './recipe.ts';

/** State of other kinds: vaults, intents, stores, worktrees, the demonstration. */
export const otherRecipes: Readonly<Record<string, Recipe>> = {
  vault: {
    about: "the vaults of a repository and of its user, and a check that is given the repository's secret",
    async make(place) {
      const secret = { stdin: 'tok-of-the-vault-Zq8vXw3Lm5' };
      await place.writ(['vault', 'set', 'NPM_TOKEN', '--scope', 'npm:read'], secret);
      await place.writ(['vault', 'set', 'OPENAI_API_KEY', '--global'], { stdin: 'key-of-no-one-1234567890' });
      const check = {
        ...{ id: 'given', kind: 'command', command: `test "$NPM_TOKEN" = ${secret.stdin}` },
        ...{ timeoutSeconds: 60, required: true, artifactsProduced: [] },
      };
      const spec = sampleIntent(place, {
        acceptance: { verificationPlan: { integrationChecks: [check] } },
        security: { secrets: { policy: 'read-only-scoped', allowedScopes: ['npm:read'] } },
      });
      return [
        { run: ['vault', 'list'] },
        { run: ['run', spec, '--patch', samplePatch(place)] },
        { run: ['vault', 'set', 'ANOTHER'], stdin: 'another-secret-1234' },
        { run: ['vault', 'rm', 'NPM_TOKEN'] },
        { run: ['vault', 'list'] },
      ];
    },
  },
  intents: {
    about: 'intents that were drafted, activated, closed and superseded',
    async make(place) {
      const draft = (id: string, status = 'draft') =>
        sampleIntent(place, { metadata: { id }, lifecycle: { status } }, `${id}.json`);
      await place.writ(['spec', 'activate', draft('intent-activated')]);
      await place.writ(['spec', 'activate', draft('intent-closed')]);
      await place.writ(['spec', 'close', 'intent-closed', '--reason', 'not needed']);
      await place.writ(['spec', 'activate', draft('intent-old')]);
      await place.writ(['spec', 'supersede', 'intent-old', draft('intent-new', 'active')], {
        exit: 'recorded',
      });
      const ids = ['intent-activated', 'intent-closed', 'intent-old', 'intent-new'];
      return [
        ...ids.map((id) => ({ run: ['spec', 'show', '--current', id], exit: 'recorded' as const })),
        { run: ['fsck'] },
        { run: ['run', '../intent-closed.json', '--patch', samplePatch(place)], exit: 'recorded' },
        { run: ['run', '../intent-activated.json', '--patch', samplePatch(place)] },
        { run: ['verify', 'HEAD'] },
      ];
    },
  },
  'sealed-in-a-local-store': {
    about: 'a run whose objects are beside the repository (`external-local`)',
    async make(place) {
      const run = await runSample(place, { objmodel: { objectStore: { backend: 'external-local' } } });
      // `fsck` of bc4e9f22 reports such a run as lost, which no version has to repeat.
      return sealedClaims(run).filter((claim) => claim.run[0] !== 'fsck');
    },
  },
  'sealed-in-another-branch': {
    about: 'a range of commits, merged onto a branch and sealed there',
    async make(place) {
      const patch = samplePatch(place);
      place.git('branch', 'release');
      place.git('checkout', '--quiet', '-b', 'fix');
      place.git('apply', '--index', patch);
      place.git('commit', '--quiet', '-m', 'Exact prices');
      place.git('checkout', '--quiet', 'main');
      const line = ['run', sampleIntent(place), '--range', 'main..fix', '--onto', 'release'];
      const run = (await place.writ(line)) as unknown as RunData;
      const [, ...rest] = sealedClaims(run);
      return [{ run: ['verify', 'release', '--replay', '--commit'] }, ...rest];
    },
  },
  demonstration: {
    about: 'the repository of `writ demo`: refusals, approvals, an SBOM, advisories, and a run of a model',
    async make(place) {
      return await demonstration(place, ['demo']);
    },
  },
  'demonstrated-session': {
    about: 'the repository of `writ demo --session`: a thread with a failed run and its repair',
    async make(place) {
      return await demonstration(place, ['demo', '--session']);
    },
  },
};

/** Puts what `writ demo` made in the place of the state's repository and home. */
async function demonstration(place: Place, line: readonly string[]) {
  const data = (await place.writ([...line, '--out', '../demo'])) as unknown as RunData & {
    readonly repository: string;
    readonly session?: { readonly thread_id: string };
  };
  rmSync(place.repo, { recursive: true });
  renameSync(data.repository, place.repo);
  const home = join(place.root, 'demo', 'home');
  if (existsSync(home)) {
    rmSync(place.home, { recursive: true });
    cpSync(home, place.home, { recursive: true });
  }
  rmSync(join(place.root, 'demo'), { recursive: true });
  spawnSync('rm', ['-rf', join(place.home, '.cache'), join(place.repo, '.git/writ/cache')]);
  return [
    { run: ['runs'] },
    { run: ['fsck'] },
    { run: ['show', data.run_id] },
    { run: ['replay', data.run_id] },
    { run: ['verify', data.run_id, '--run', '--replay'] },
    ...(data.session === undefined ? [{ run: ['ledger', 'show'] }] : []),
    { run: ['graph', data.session?.thread_id ?? data.thread_id] },
  ];
}
